import type { Socket } from "node:net";

/**
 * Parses nothing more of what a socket's caller sends, for the rest of the connection: it is read and thrown away, at
 * most one piece of each socket in a turn of the event loop, so that a flood costs the others next to nothing. It is
 * read at all so that the caller, and a proxy in between, sees its answer and not a reset, and so that we see it leave.
 */
export function discardInput(socket: Socket): void {
  for (const listener of socket.listeners("data")) socket.removeListener("data", asListener(listener));
  // A first listener of ours takes the bytes away from Node's HTTP parser, which else reads below the socket.
  socket.on("data", () => {
    socket.pause();
    setImmediate(() => socket.resume());
  });
  socket.resume();
}

/** What `listeners` gives is what `on` was given. */
function asListener(listener: (...args: never[]) => unknown): (chunk: Buffer) => void {
  return listener as (chunk: Buffer) => void;
}
