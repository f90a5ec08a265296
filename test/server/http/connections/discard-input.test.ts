import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect, test } from "vitest";
import { discardInput } from "../../../../server/http/connections/discard-input.ts";

const CALLERS = 8;
const PIECES = 50;

test("b83: of many callers who send more than is read, one piece of one is thrown away in a turn", async () => {
  let inTurn = 0;
  const most: number[] = [];
  const sockets: Socket[] = [];
  const { promise: enough, resolve } = Promise.withResolvers<void>();
  const discard = (socket: Socket): void => {
    let pieces = 0;
    sockets.push(socket);
    discardInput(socket);
    // The first of each is read as it begins.
    socket.on("data", () => {
      if (++pieces > 1) inTurn++;
      if (pieces === PIECES) resolve();
    });
  };
  const server = createServer(discard).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const callers = Array.from({ length: CALLERS }, () => connect(port, "127.0.0.1"));
  for (const caller of callers) {
    caller.on("error", () => {});
    const send = (): void => {
      while (caller.write(Buffer.alloc(1 << 20))) {}
    };
    caller.on("drain", send);
    send();
  }
  const turn = (): void => {
    most.push(inTurn);
    inTurn = 0;
    counting = setImmediate(turn);
  };
  let counting = setImmediate(turn);
  await enough;
  clearImmediate(counting);
  for (const socket of [...callers, ...sockets]) socket.destroy();
  server.close();
  expect(Math.max(...most)).toBe(1);
});
