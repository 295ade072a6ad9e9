// The REST API: JSON in, JSON out, and one form for everything that can go wrong.

const BASE = 'api/v1';
const PATIENCE = 10; // seconds at most until a busy server is asked again
const LONGEST = 1000; // characters of a position that the server reads

export const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

export class ApiError extends Error {
  constructor(message, status = 0, retryAfter = null) {
    super(message);
    this.status = status;
    this.retryAfter = retryAfter; // seconds, where the server says when to come back
  }
}

export function address(path, params = {}) {
  const given = Object.entries(params).filter(([, value]) => value != null && value !== '');
  const query = new URLSearchParams(
    given.flatMap(([name, value]) => [value].flat().map((item) => [name, item])),
  );
  return `${BASE}/${path}${given.length ? `?${query}` : ''}`;
}

export const get = (path, params = {}, { signal } = {}) =>
  ask(address(path, params), { signal }).then((answer) => answer.json());

export const post = (path, body = {}, { signal } = {}) =>
  ask(address(path), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
    signal,
  }).then((answer) => answer.json());

// Let the server read a position: it knows every notation and name.
export async function position(asked) {
  if (asked.start.length > LONGEST)
    throw new ApiError(
      `A position has at most ${LONGEST} characters; this one has ${asked.start.length}.`,
    );
  return post('position', { ...asked, any_counts: true });
}

// A busy server says when to come back; the request is repeated once.
export async function ask(url, options) {
  try {
    return await askOnce(url, options);
  } catch (error) {
    if (!error.retryAfter) throw error;
    await pause(1000 * Math.min(error.retryAfter, PATIENCE));
    return askOnce(url, options);
  }
}

async function askOnce(url, options) {
  let answer;
  try {
    answer = await fetch(url, options);
  } catch (error) {
    // Aborted by a view that no longer needs the answer, which is not a problem to show.
    if (error.name === 'AbortError') throw error;
    throw new ApiError('The server does not answer. Is it still running?');
  }
  if (answer.ok) return answer;
  const said = await answer.json().catch(() => null);
  const after = Number(answer.headers.get('Retry-After')) || null;
  throw new ApiError(
    said?.error?.message ?? `The server answered ${answer.status}.`,
    answer.status,
    after,
  );
}
