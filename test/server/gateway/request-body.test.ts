import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { readBody } from "../../../server/gateway/request-body.ts";
import { until } from "../../env/until.ts";

const MOST = 32 * 1024 * 1024;

test("b83: takes no memory for the whole of a body that it has refused, however much more comes", async () => {
  const request = new IncomingMessage(new Socket());
  const taken = vi.spyOn(Buffer, "allocUnsafeSlow");
  onTestFinished(() => taken.mockRestore());
  const refused = expect(readBody(request, null, undefined)).rejects.toMatchObject({ status: 413 });
  const piece = Buffer.alloc(64 * 1024);
  for (let sent = 0; sent <= MOST; sent += piece.length) request.push(Buffer.from(piece));
  await refused;
  taken.mockClear();
  request.push(null);
  await until("its end was read", () => request.readableEnded);
  expect(taken.mock.calls).toEqual([]);
});
