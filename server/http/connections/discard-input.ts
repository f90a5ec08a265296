import type { Socket } from "node:net";
import { freeBytes } from "../bodies/byte-pool.ts";

/** Sockets with input to discard that are not being read, in the order of their turns. */
const waiting: Socket[] = [];

/**
 * Discards all further input of a socket, without parsing it. Reads one piece of one such socket in each iteration of
 * the event loop, so that a flood costs others next to nothing. The input is read so that the caller, and a proxy in
 * between, sees its answer and not a reset, and so that the server sees the caller leave.
 */
export function discardInput(socket: Socket): void {
  for (const listener of socket.listeners("data")) socket.removeListener("data", asListener(listener));
  // The first listener for data takes the bytes away from Node's HTTP parser, which otherwise reads below the socket.
  socket.on("data", (piece: Buffer) => {
    // Pieces of 64 KiB would have the garbage collector walk over the whole heap again and again (threats b83).
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

/** Casts a listener from `listeners` to the type that `on` takes. */
function asListener(listener: (...args: never[]) => unknown): (chunk: Buffer) => void {
  return listener as (chunk: Buffer) => void;
}
