// A file that is dropped on the page becomes an agent, if the server's owner allows that.

import { address, ask } from './api.js';

const PIECE = 48 * 1024; // bytes; the server takes at most 64 kB in one request

// Send the file in pieces and let the new agent play: as yellow, or as red if yellow is a person.
export async function take(file, app) {
  app.complain(`Sending ${file.name} …`);
  let answer;
  for (let at = 0; at === 0 || at < file.size; at += PIECE) {
    const last = at + PIECE >= file.size;
    const response = await ask(address('own', { name: file.name, at, last }), {
      method: 'POST',
      headers: { 'Content-Type': 'application/octet-stream' },
      body: await file.slice(at, at + PIECE).arrayBuffer(),
    });
    answer = await response.json();
  }
  app.go({ view: 'play', [app.state.yellow === 'human' ? 'red' : 'yellow']: answer.agent });
  location.reload(); // every picker lists it now; the address has the game
}
