import type { Socket } from "node:net";
import { freeBytes } from "../bodies/byte-pool.ts";

/** Sockets with input to be thrown away that are not being read, in the order of their turns. */
const waiting: Socket[] = [];

/**
 * Parses nothing more of what a socket's caller sends, for the rest of the connection: it is read and thrown away, one
 * piece of one such socket in a turn of the event loop, so that a flood costs the others next to nothing. It is read at
 * all so that the caller, and a proxy in between, sees its answer and not a reset, and so that we see it leave.
 */
export function discardInput(socket: Socket): void {
  for (const listener of socket.listeners("data")) socket.removeListener("data", asListener(listener));
  // A first listener of ours takes the bytes away from Node's HTTP parser, which else reads below the socket.
  socket.on("data", (piece: Buffer) => {
    // Left to the garbage collector, 64 KiB each have it walk over the whole heap again and again (threats b83).
    freeBytes(piece);
    socket.pause();
    if (waiting.push(socket) === 1) setImmediate(readNext);
  });
  socket.resume();
}

function readNext(): void {
  waiting.shift()?.resume();
  if (waiting.length > 0) setImmediate(readNext);
}

/** What `listeners` gives is what `on` was given. */
function asListener(listener: (...args: never[]) => unknown): (chunk: Buffer) => void {
  return listener as (chunk: Buffer) => void;
}
