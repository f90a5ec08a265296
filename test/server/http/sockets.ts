import { connect, type Socket } from "node:net";
import { until } from "../../env/until.ts";

/** A caller on a bare socket, with all that it was sent. */
export type Caller = {
  readonly socket: Socket;
  /** What came, as Latin-1. */
  readonly text: () => string;
  /** Whether the server has closed its side, and how the connection ended where it did. */
  readonly state: () => "open" | "ended" | "closed" | "reset";
};

/** Connects, and reads all that comes. */
export function openCaller(port: number): Caller {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  let text = "";
  let state: "open" | "ended" | "closed" | "reset" = "open";
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1");
  });
  socket.on("end", () => {
    state = "ended";
  });
  socket.on("error", () => {
    state = "reset";
  });
  socket.on("close", () => {
    if (state !== "reset") state = "closed";
  });
  return { socket, text: () => text, state: () => state };
}

/** Sends for ever: `piece` again and again, as long as the other side takes it, and without filling the processor by it. */
export function sendEndlessly({ socket }: Caller, piece: Buffer): void {
  const more = (): void => {
    while (!socket.destroyed && socket.write(piece));
  };
  socket.on("drain", () => setTimeout(more, 10));
  more();
}

/** Waits until the server knows the connection no more: its end alone is not that, but a byte more is answered by a reset. */
export function isDisconnected({ socket, state }: Caller): Promise<unknown> {
  const probe = () => {
    if (state() === "ended" && socket.writableLength === 0) socket.write("x");
    return state() === "closed" || state() === "reset";
  };
  return until("the connection is gone", probe, { timeoutMs: 20_000 });
}

/** The statuses of the answers that a caller has, in turn. */
export function statusesOf({ text }: Caller): number[] {
  return [...text().matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}

/** Waits for so many answers. */
export function answers(caller: Caller, count: number): Promise<unknown> {
  return until(`${count} answers have come`, () => statusesOf(caller).length >= count);
}
