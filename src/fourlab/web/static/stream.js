// Event streams of the REST API: what a search finds while it thinks.

import { address, ApiError, ask } from './api.js';

// Follow an event stream until it says done; returns a function that closes it. After closing,
// nothing is called any more. EventSource is not used because it reconnects by itself and cannot
// read the text of an error.
export function stream(path, params, { onProgress, onDone, onError }) {
  const stop = new AbortController();
  follow(address(path, params), stop.signal, { progress: onProgress, done: onDone }).catch(
    (error) => {
      if (!stop.signal.aborted) onError?.(error);
    },
  );
  return () => stop.abort();
}

async function follow(url, signal, handlers) {
  const answer = await ask(url, { signal, headers: { Accept: 'text/event-stream' } });
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) throw new ApiError('The analysis was cut off.');
    // An event ends with an empty line; the last piece may be cut anywhere and waits for more.
    const events = (text + value.replaceAll('\r', '')).split('\n\n');
    text = events.pop();
    for (const event of events) {
      const field = (name) =>
        event
          .split('\n')
          .filter((line) => line.startsWith(`${name}:`))
          .map((line) => line.slice(name.length + 1).trim())
          .join('\n');
      // A handler may have closed the stream while events of the same piece were left.
      if (signal.aborted || !field('data')) continue;
      const data = JSON.parse(field('data'));
      if (field('event') === 'error') throw new ApiError(data.error.message, data.error.status);
      handlers[field('event')]?.(data);
      if (field('event') === 'done') return void reader.cancel();
    }
  }
}
