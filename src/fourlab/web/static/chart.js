// Line charts in SVG that redraw themselves when their width changes, bars, and tables. Every chart
// can also be read as a table.

import { h, svg } from './ui.js';

const HEIGHT = 220;
const MARGIN = { top: 12, right: 26, bottom: 38, left: 48 };
const FLOOR = HEIGHT - MARGIN.bottom;
const MOST_ROWS = 40; // of the table; a longer curve is thinned
const SHORT_NAME = 3; // letters: such names stand at the end of their curve, others in the legend
let charts = 0;

// A number as people write it on an axis: 0.25, 1,500, 2M.
export function short(number) {
  const form = Math.abs(number) >= 10000 ? { notation: 'compact' } : {};
  return new Intl.NumberFormat('en', { maximumSignificantDigits: 3, ...form })
    .format(number)
    .replace('-', '−');
}

// A chart of curves: its element, and draw({ series, marks, cursor }), which keeps what is omitted.
// Axes x and y: { label, log, whole, min, max, ticks: [[value, text]], text(value) }, all but the
// label optional. Series: { name, ink: 1..7, points: [[x, y]], step, thin, area }. Marks:
// { x, y, text }. The cursor is a vertical line.
// pick(x) hears where the chart is clicked or dragged.
export function lineChart({ title, x, y, pick = null }) {
  const id = `chart-${++charts}`;
  const shown = { series: [], marks: [], cursor: null };
  const drawing = svg('svg', {
    role: 'img',
    height: HEIGHT,
    'aria-labelledby': `${id}-title`,
    'aria-describedby': `${id}-about`,
  });
  const legend = h('p', { class: 'keys', 'aria-hidden': 'true' });
  const numbers = h(
    'details',
    { class: 'data' },
    h('summary', {}, 'Numbers', h('span', { class: 'hidden' }, ` of the chart: ${title}`)),
  );
  const element = h(
    'figure',
    { class: 'chart' },
    h('figcaption', {}, title),
    drawing,
    legend,
    numbers,
  );
  const longNames = () => shown.series.filter((one) => one.name.length > SHORT_NAME);
  let valueAt = null; // from a place on the screen to a value of x

  function paint() {
    const width = element.clientWidth;
    if (!width) return; // not on the page yet; the observer calls again
    const points = shown.series.flatMap((one) => one.points);
    const across = scale(
      x,
      points.map(([at]) => at),
      MARGIN.left,
      width - MARGIN.right,
      width / 90,
    );
    const up = scale(
      y,
      points.map(([, value]) => value),
      FLOOR,
      MARGIN.top,
      5,
    );
    valueAt = across.valueAt;
    drawing.setAttribute('width', width);
    drawing.replaceChildren(
      svg('title', { id: `${id}-title` }, title),
      svg('desc', { id: `${id}-about` }, describe()),
      svg('rect', {
        class: 'plot',
        x: MARGIN.left,
        y: MARGIN.top,
        width: width - MARGIN.left - MARGIN.right,
        height: FLOOR - MARGIN.top,
      }),
      ...grid(across, up, width),
      ...shown.series.flatMap((one) => curve(one, across, up)),
      ...ends(across, up, width),
      ...shown.marks.map((mark) =>
        svg('text', { class: 'mark', x: across.place(mark.x), y: up.place(mark.y) + 4 }, mark.text),
      ),
    );
    if (shown.cursor !== null)
      drawing.append(
        line('cursor', across.place(shown.cursor), MARGIN.top, across.place(shown.cursor), FLOOR),
      );
    drawing.classList.toggle('dashes', longNames().length > 1);
    legend.replaceChildren(...(shown.series.length > 1 ? longNames() : []).map(key));
    if (numbers.open) tabulate();
  }

  function grid(across, up, width) {
    const right = width - MARGIN.right;
    const label = (text, left, top, anchor) =>
      svg('text', { x: left, y: top, 'text-anchor': anchor }, text);
    return [
      ...up.ticks.flatMap(([value, text]) => [
        line('grid', MARGIN.left, up.place(value), right, up.place(value)),
        label(text, MARGIN.left - 7, up.place(value) + 4, 'end'),
      ]),
      ...across.ticks.flatMap(([value, text]) => [
        line('grid', across.place(value), MARGIN.top, across.place(value), FLOOR),
        label(text, across.place(value), FLOOR + 16, 'middle'),
      ]),
      label(x.label, (MARGIN.left + right) / 2, HEIGHT - 4, 'middle'),
    ];
  }

  // The short names at the right ends of the curves, moved apart where they would overlap.
  function ends(across, up, width) {
    const named = shown.series
      .filter(
        (one) =>
          one.points.length && one.name.length <= SHORT_NAME && up.holds(one.points.at(-1)[1]),
      )
      .map((one) => ({
        one,
        left: across.place(one.points.at(-1)[0]),
        top: up.place(one.points.at(-1)[1]),
      }))
      .sort((one, other) => one.top - other.top);
    // Down first, then up from the floor: 13 pixels are a line of text.
    let above = -Infinity;
    const labels = named.map(({ top }) => (above = Math.max(top, above + 13)));
    for (let i = labels.length - 1, below = FLOOR + 13; i >= 0; i--)
      below = labels[i] = Math.min(labels[i], below - 13);
    return named.flatMap(({ one, left, top }, i) => [
      svg('circle', { class: `dot ink-${one.ink}`, cx: left, cy: top, r: 3 }),
      svg(
        'text',
        { class: `end ink-${one.ink}`, x: width - MARGIN.right + 10, y: labels[i] + 4 },
        one.name,
      ),
    ]);
  }

  function describe() {
    const last = shown.series
      .filter((one) => one.points.length)
      .map((one) => `${one.name}: ${textOf(y, one.points.at(-1)[1])}`);
    return last.length
      ? `${y.label} against ${x.label}. At the end ${last.join(', ')}.`
      : 'Nothing to show yet.';
  }

  function tabulate() {
    const rows = new Map();
    shown.series.forEach((one, place) => {
      for (const [at, value] of one.points)
        rows.set(at, (rows.get(at) ?? shown.series.map(() => '')).with(place, textOf(y, value)));
    });
    const all = [...rows].sort(([one], [other]) => one - other);
    const stride = Math.ceil(all.length / MOST_ROWS);
    // Counted from the end, so that the last row is always kept.
    const kept = all.filter((_, place) => (all.length - 1 - place) % stride === 0);
    const lists = kept.map(([at, values]) => [textOf(x, at), ...values]);
    numbers.querySelector('.scroll')?.remove();
    numbers.append(
      table(
        [x.label, ...shown.series.map((one) => one.name)],
        lists,
        `Numbers of the chart: ${title}`,
      ),
    );
  }

  if (pick) {
    const hear = (event) => pick(valueAt(event.clientX - drawing.getBoundingClientRect().left));
    drawing.classList.add('pickable');
    drawing.addEventListener('pointerdown', (event) => {
      // Dragging continues when the pointer leaves the chart.
      drawing.setPointerCapture(event.pointerId);
      hear(event);
    });
    drawing.addEventListener('pointermove', (event) => event.buttons && hear(event));
  }
  numbers.addEventListener('toggle', () => numbers.open && tabulate());
  new ResizeObserver(paint).observe(element);
  return {
    element,
    draw(changes) {
      Object.assign(shown, changes);
      paint();
    },
  };
}

// A table that scrolls if it is too wide; numbers are right-aligned. Cells are texts, numbers or
// elements.
export function table(head, rows, label) {
  const isNumber = (cell) =>
    cell === '' || cell == null || /^[-+−]?[\d.,]+( ?%|[kMB])?$/.test(cell);
  const align = head.map(
    (_, place) => rows.length > 0 && rows.every((row) => isNumber(row[place])) && 'number',
  );
  const cells = (row) => row.map((cell, place) => h('td', { class: align[place] }, cell ?? ''));
  return h(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': label },
    h(
      'table',
      {},
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          head.map((name, place) => h('th', { scope: 'col', class: align[place] }, name)),
        ),
      ),
      h(
        'tbody',
        {},
        rows.map((row) => h('tr', {}, cells(row))),
      ),
    ),
  );
}

// A bar that fills a share of its cell, and beside it the text that says the same.
export function bar(share, text = null, kind = '') {
  const fill = h('span', {});
  fill.style.width = `${100 * Math.min(1, Math.max(0, share))}%`;
  return h(
    'span',
    { class: `bar ${kind}` },
    h('span', { class: 'rail', 'aria-hidden': 'true' }, fill),
    text && h('span', { class: 'says' }, text),
  );
}

const textOf = (axis, value) => (axis.text ?? short)(value);
const line = (kind, x1, y1, x2, y2) => svg('line', { class: kind, x1, y1, x2, y2 });
const look = ({ ink, thin }) => `line ink-${ink}${thin ? ' thin' : ''}`;
const key = (one) =>
  h('span', {}, svg('svg', { width: 28, height: 10 }, line(look(one), 1, 5, 27, 5)), one.name);

function curve(series, across, up) {
  const { points, ink, step, area } = series;
  // A step is as wide as one unit and has its point in the middle.
  const corners = step
    ? points.flatMap(([at, value]) => [
        [at - 0.5, value],
        [at + 0.5, value],
      ])
    : points;
  const drawn = corners
    .filter(([at, value]) => across.holds(at) && up.holds(value))
    .map(([at, value]) => [across.place(at).toFixed(1), up.place(value).toFixed(1)]);
  const path = drawn.length ? `M${drawn.join('L')}` : '';
  const under =
    area &&
    path &&
    svg('path', { class: `area ink-${ink}`, d: `${path}V${FLOOR}H${drawn[0][0]}Z` });
  return [under, svg('path', { class: look(series), d: path })].filter(Boolean);
}

// From values to places on the screen and back, with the values that deserve a line of the grid.
function scale(axis, values, from, to, wanted) {
  const holds = (value) => Number.isFinite(value) && (!axis.log || value > 0);
  const numbers = values.filter(holds);
  let low = axis.min ?? Math.min(...numbers);
  let high = axis.max ?? Math.max(...numbers);
  if (!(low <= high)) [low, high] = [1, 10]; // nothing to show yet
  if (low === high) [low, high] = axis.log ? [low / 2, high * 2] : [low - 1, high + 1];
  const turned = axis.log ? Math.log10 : (value) => value;
  const start = turned(low);
  const length = turned(high) - start;
  const ticks = axis.log ? decades(low, high, wanted) : rounds(low, high, wanted, axis.whole);
  return {
    holds,
    place: (value) => from + ((to - from) * (turned(value) - start)) / length,
    valueAt(place) {
      const share = Math.min(1, Math.max(0, (place - from) / (to - from)));
      return axis.log ? 10 ** (start + share * length) : start + share * length;
    },
    ticks: axis.ticks ?? ticks.map((value) => [value, textOf(axis, value)]),
  };
}

// Round numbers in a range, about as many as wanted.
function rounds(low, high, wanted, whole) {
  const rough = Math.max((high - low) / Math.max(2, wanted), whole ? 1 : 0);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((value) => value * power).find((value) => value >= rough);
  // 1e-9 keeps a tick at the very ends in spite of rounding; so does toPrecision for 0.30000000004.
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, place) =>
    Number(((first + place) * step).toPrecision(12)),
  );
}

// Powers of ten in a range, and where there are few also their doubles and fives.
function decades(low, high, wanted) {
  const span = Math.log10(high / low);
  const stride = Math.max(1, Math.ceil(span / Math.max(2, wanted)));
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += stride) {
    ticks.push(...(span < 2 ? [1, 2, 5] : [1]).map((factor) => factor * 10 ** power));
  }
  return ticks.filter((value) => value >= low * 0.999 && value <= high * 1.001);
}
