// Line charts in SVG that redraw themselves at their own width. What they show can always be read as a table too.

import {h} from './ui.js';

const HEIGHT = 220;
const MARGIN = {top: 12, right: 34, bottom: 38, left: 52};
const MOST_ROWS = 40; // of the table; a longer curve is thinned
const WIDEST_NAME = 3; // so short a name stands at the end of its line, a longer one in the legend
let charts = 0;

/** An SVG element. */
export function s(tag, attributes = {}, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) if (value != null) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** A number as people write it on an axis: 0.25, 1,500, 2M. */
export function short(number) {
  const form = Math.abs(number) >= 10000 ? {notation: 'compact'} : {};
  return new Intl.NumberFormat('en', {maximumSignificantDigits: 3, ...form}).format(number);
}

/**
 * A chart of curves.
 *
 * `x` and `y` are axes: {label, log, min, max, ticks: [[value, text]], text: value => string}, all but the label optional.
 * `draw({series, marks, cursor})` shows series {name, ink: 1-7, points: [[x, y]], step, thin, area}, marks {x, y, text}
 * and a vertical line at the cursor; what is left out stays as it was. `pick(x)` hears where the chart is clicked or dragged.
 */
export function lineChart({title, x, y, pick = null}) {
  const id = `chart${++charts}`;
  const shown = {series: [], marks: [], cursor: null};
  const drawing = s('svg', {role: 'img', height: HEIGHT, 'aria-labelledby': `${id}t`, 'aria-describedby': `${id}d`});
  const legend = h('p', {class: 'legend', 'aria-hidden': 'true'});
  const numbers = h('details', {class: 'numbers'}, h('summary', {}, `${title}: the numbers`));
  const element = h('figure', {class: 'chart'}, h('figcaption', {}, title), drawing, legend, numbers);
  let toX = null;

  function paint() {
    const width = Math.max(240, element.clientWidth || 480);
    const points = shown.series.flatMap(each => each.points);
    const across = scale(x, points.map(point => point[0]), MARGIN.left, width - MARGIN.right, width / 90);
    const up = scale(y, points.map(point => point[1]), HEIGHT - MARGIN.bottom, MARGIN.top, 5);
    toX = across.value;
    drawing.setAttribute('width', width);
    drawing.setAttribute('viewBox', `0 0 ${width} ${HEIGHT}`);
    drawing.replaceChildren(
      s('title', {id: `${id}t`}, title),
      s('desc', {id: `${id}d`}, describe()),
      s('rect', {
        class: 'plot', x: MARGIN.left, y: MARGIN.top,
        width: width - MARGIN.left - MARGIN.right, height: HEIGHT - MARGIN.top - MARGIN.bottom,
      }),
      ...axes(across, up, width),
      ...shown.series.map(each => curve(each, across, up)),
      ...ends(across, up, width),
      ...shown.marks.map(mark => s('text', {class: 'mark', x: across.place(mark.x), y: up.place(mark.y) - 6}, mark.text)),
    );
    if (shown.cursor !== null) {
      const place = across.place(shown.cursor);
      drawing.append(s('line', {class: 'cursor', x1: place, x2: place, y1: MARGIN.top, y2: HEIGHT - MARGIN.bottom}));
    }
    drawing.classList.toggle('told-apart', longNames().length > 1);
    legend.replaceChildren(...(shown.series.length > 1 ? longNames() : []).map(key));
    if (numbers.open) tabulate();
  }

  function axes(across, up, width) {
    const right = width - MARGIN.right, bottom = HEIGHT - MARGIN.bottom;
    return [
      ...up.ticks.map(([value, text]) => s('g', {},
        s('line', {class: 'grid', x1: MARGIN.left, x2: right, y1: up.place(value), y2: up.place(value)}),
        s('text', {class: 'tick', x: MARGIN.left - 8, y: up.place(value) + 4, 'text-anchor': 'end'}, text))),
      ...across.ticks.map(([value, text]) => s('g', {},
        s('line', {class: 'grid', x1: across.place(value), x2: across.place(value), y1: MARGIN.top, y2: bottom}),
        s('text', {class: 'tick', x: across.place(value), y: bottom + 16, 'text-anchor': 'middle'}, text))),
      s('text', {class: 'tick', x: (MARGIN.left + right) / 2, y: HEIGHT - 4, 'text-anchor': 'middle'}, x.label),
    ];
  }

  // The names of the curves at their right ends, pushed apart where they would cover each other.
  function ends(across, up, width) {
    const named = shown.series.filter(each => each.points.length && each.name.length <= WIDEST_NAME)
      .map(each => ({each, end: each.points.at(-1)})).filter(({end}) => up.holds(end[1]))
      .map(({each, end}) => ({each, x: across.place(end[0]), y: up.place(end[1]), label: up.place(end[1])}))
      .sort((one, other) => one.y - other.y);
    for (let i = 1; i < named.length; i++) named[i].label = Math.max(named[i].label, named[i - 1].label + 13);
    const below = (named.at(-1)?.label ?? 0) - (HEIGHT - MARGIN.bottom + 4);
    return named.flatMap(({each, x: place, y: height, label}) => [
      s('circle', {class: `dot ink-${each.ink}`, cx: place, cy: height, r: 3}),
      s('text', {class: `end ink-${each.ink}`, x: width - MARGIN.right + 10, y: label + 4 - Math.max(0, below)}, each.name),
    ]);
  }

  const longNames = () => shown.series.filter(each => each.name.length > WIDEST_NAME);

  function describe() {
    const last = shown.series.filter(each => each.points.length).map(each => `${each.name} ${text(y, each.points.at(-1)[1])}`);
    return last.length ? `${y.label} against ${x.label}. At the end: ${last.join(', ')}.` : 'Nothing to show yet.';
  }

  function tabulate() {
    const rows = new Map();
    shown.series.forEach((each, place) => each.points.forEach(([at, value]) => {
      if (!rows.has(at)) rows.set(at, Array(shown.series.length).fill(null));
      rows.get(at)[place] = value;
    }));
    const all = [...rows].sort((one, other) => one[0] - other[0]);
    const stride = Math.ceil(all.length / MOST_ROWS);
    const kept = all.filter((_, place) => (all.length - 1 - place) % stride === 0);
    numbers.querySelector('.wide')?.remove();
    numbers.append(table([x.label, ...shown.series.map(each => each.name)],
      kept.map(([at, values]) => [text(x, at), ...values.map(value => value === null ? '' : text(y, value))])));
  }

  if (pick) {
    drawing.classList.add('pickable');
    const hear = event => pick(toX(event.clientX - drawing.getBoundingClientRect().left));
    drawing.addEventListener('pointerdown', event => {
      drawing.setPointerCapture(event.pointerId);
      hear(event);
    });
    drawing.addEventListener('pointermove', event => event.buttons && hear(event));
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

/** A table that scrolls by itself where it is too wide; numbers stand on the right. */
export function table(head, rows, {caption = null} = {}) {
  const numeric = head.map((_, place) => rows.length > 0 && rows.every(row => isNumber(row[place])));
  const cell = (content, place) => h('td', {class: numeric[place] ? 'number' : null}, content instanceof Node ? content : String(content ?? ''));
  return h('div', {class: 'wide', tabindex: '0', role: 'region', 'aria-label': caption ?? head.join(', ')},
    h('table', {},
      caption && h('caption', {}, caption),
      h('thead', {}, h('tr', {}, ...head.map((name, place) => h('th', {scope: 'col', class: numeric[place] ? 'number' : null}, name)))),
      h('tbody', {}, ...rows.map(row => h('tr', {}, ...row.map(cell))))));
}

/** A horizontal bar that fills a share of its cell; beside it the text says the same. */
export function bar(share, text, kind = '') {
  const fill = h('span', {class: `fill ${kind}`});
  fill.style.width = `${100 * Math.min(1, Math.max(0, share))}%`;
  return h('span', {class: 'bar'}, h('span', {class: 'rail', 'aria-hidden': 'true'}, fill), h('span', {class: 'says'}, text));
}

const isNumber = value => value === '' || value == null || (!(value instanceof Node) && /^[-+−]?[\d.,]+( ?%|[kMB])?$/.test(value));
const text = (axis, value) => (axis.text ?? short)(value);

function key(each) {
  const line = s('svg', {width: 28, height: 10}, s('line', {class: `line ink-${each.ink}${each.thin ? ' thin' : ''}`, x1: 1, x2: 27, y1: 5, y2: 5}));
  return h('span', {class: 'key'}, line, each.name);
}

function curve({points, ink, step = false, thin = false, area = false}, across, up) {
  // A step is as wide as one unit and has its point in the middle.
  const drawn = (step ? points.flatMap(([at, value]) => [[at - 0.5, value], [at + 0.5, value]]) : points)
    .filter(([at, value]) => across.holds(at) && up.holds(value))
    .map(([at, value]) => [across.place(at).toFixed(1), up.place(value).toFixed(1)]);
  const path = drawn.map((point, place) => `${place ? 'L' : 'M'}${point}`).join('');
  const line = s('path', {class: `line ink-${ink}${thin ? ' thin' : ''}`, d: path});
  if (!area || !drawn.length) return line;
  const floor = HEIGHT - MARGIN.bottom;
  return s('g', {}, s('path', {class: `area ink-${ink}`, d: `${path}L${drawn.at(-1)[0]},${floor}L${drawn[0][0]},${floor}Z`}), line);
}

// From values to places on the screen and back, with the values that are worth a line of the grid.
function scale(axis, values, from, to, wanted) {
  const known = values.filter(value => Number.isFinite(value) && (!axis.log || value > 0));
  let low = axis.min ?? Math.min(...known), high = axis.max ?? Math.max(...known);
  if (!(low <= high)) [low, high] = axis.log ? [1, 10] : [0, 1]; // nothing to show yet
  if (low === high) [low, high] = axis.log ? [low / 2, high * 2] : [low - (low ? Math.abs(low) / 10 : 1), high + (high ? Math.abs(high) / 10 : 1)];
  const turn = axis.log ? Math.log10 : value => value;
  const start = turn(low), length = turn(high) - start;
  const place = value => from + (to - from) * (turn(value) - start) / length;
  const value = at => {
    const turned = start + length * (Math.min(Math.max(at, Math.min(from, to)), Math.max(from, to)) - from) / (to - from);
    return axis.log ? 10 ** turned : turned;
  };
  const ticks = axis.ticks ?? (axis.log ? decades(low, high, wanted) : rounds(low, high, wanted)).map(each => [each, text(axis, each)]);
  return {place, value, ticks, holds: each => Number.isFinite(each) && (!axis.log || each > 0)};
}

function rounds(low, high, wanted) {
  const rough = (high - low) / Math.max(2, wanted), power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map(each => each * power).find(each => each >= rough);
  const first = Math.ceil(low / step - 1e-9), last = Math.floor(high / step + 1e-9);
  return Array.from({length: last - first + 1}, (_, place) => Number(((first + place) * step).toPrecision(12)));
}

function decades(low, high, wanted) {
  const span = Math.log10(high / low), factors = span < 2 ? [1, 2, 5] : [1];
  const stride = Math.max(1, Math.ceil(span / Math.max(2, wanted)));
  const found = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += stride) {
    for (const factor of factors) found.push(factor * 10 ** power);
  }
  return found.filter(each => each >= low * 0.999 && each <= high * 1.001);
}
