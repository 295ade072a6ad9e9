// The REST API: JSON in, JSON out, and one form for everything that can go wrong.

const BASE = 'api/v1';

export class ApiError extends Error {
  constructor(message, status = 0, retryAfter = null) {
    super(message);
    this.status = status;
    this.retryAfter = retryAfter; // seconds, where the server says when to come back
  }
}

export function address(path, params = {}) {
  const known = Object.entries(params).filter(([, value]) => value != null && value !== '');
  const query = new URLSearchParams(known.flatMap(([name, value]) => [value].flat().map((each) => [name, each])));
  return `${BASE}/${path}${known.length ? `?${query}` : ''}`;
}

export const get = (path, params = {}, { signal } = {}) => ask(address(path, params), { signal }).then((answer) => answer.json());

export const post = (path, body = {}, { signal } = {}) =>
  ask(address(path), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
    signal,
  }).then((answer) => answer.json());

// Follow an event stream until it says done; returns a function that closes it. After closing nothing is called any more.
// fetch, not EventSource: that one reconnects by itself and cannot read the words of a refusal.
export function stream(path, params, { onProgress, onDone, onError }) {
  const stop = new AbortController();
  follow(address(path, params), stop.signal, { progress: onProgress, done: onDone }).catch((error) => {
    if (!stop.signal.aborted) onError?.(error);
  });
  return () => stop.abort();
}

async function follow(url, signal, heard) {
  const answer = await ask(url, { signal, headers: { Accept: 'text/event-stream' } });
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) throw new ApiError('The analysis was cut off.');
    const events = (text + value.replaceAll('\r', '')).split('\n\n');
    text = events.pop();
    for (const event of events) {
      const field = (name) => event.split('\n').filter((line) => line.startsWith(`${name}:`)).map((line) => line.slice(name.length + 1).trim()).join('\n');
      if (signal.aborted || !field('data')) continue;
      const data = JSON.parse(field('data'));
      if (field('event') === 'error') throw new ApiError(data.error.message, data.error.status);
      heard[field('event')]?.(data);
      if (field('event') === 'done') return void reader.cancel();
    }
  }
}

async function ask(url, options) {
  let answer;
  try {
    answer = await fetch(url, options);
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new ApiError('The server does not answer. Is it still running?');
  }
  if (answer.ok) return answer;
  const said = await answer.json().catch(() => null);
  const after = Number(answer.headers.get('Retry-After')) || null;
  throw new ApiError(said?.error?.message ?? `The server answered ${answer.status}.`, answer.status, after);
}
