import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { expect, test } from "vitest";
import { importLibrary } from "../../../cli/memory/import-library.ts";

test("what takes a busy server too long is sent in halves, and so is all after it; links between them are set at the end", async (context) => {
  const sizes: number[] = [];
  const server = createServer(async (request, response) => {
    const { atoms } = (await json(request)) as { atoms: readonly unknown[] };
    sizes.push(atoms.length);
    const isLate = atoms.length > 50;
    response.writeHead(isLate ? 503 : 201, { "content-type": "application/json" });
    const made = { outcomes: atoms.map(() => "created"), droppedLinks: 1 };
    response.end(JSON.stringify(isLate ? { code: "unavailable", detail: "The memory took too long." } : made));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  context.onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const target = { url: `http://127.0.0.1:${port}`, credential: "key", refused: "refused" };
  const items = Array.from({ length: 130 }, (_, i) => ({ where: `${i}`, atom: { id: `${i}`, content: "x" } }));
  const result = await importLibrary(target, undefined, items, () => {});
  expect(result).toMatchObject({ imported: 130, leftOut: [], droppedLinks: 3 });
  // Four times in all, since a busy server may have been one for a moment.
  expect(sizes).toEqual([100, 100, 100, 100, 50, 50, 30, 50, 50]);
});
