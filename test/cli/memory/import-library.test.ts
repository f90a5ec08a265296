import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { expect, type TestContext, test } from "vitest";
import { importLibrary } from "../../../cli/memory/import-library.ts";

type Answer = readonly [status: number, text: string];

/** Starts a server that answers a batch by its number of atoms and the length of its body. */
async function startServer({ onTestFinished }: TestContext, answer: (atoms: number, length: number) => Answer) {
  const server = createServer(async (request, response) => {
    const { atoms } = (await json(request)) as { atoms: readonly unknown[] };
    const [status, text] = answer(atoms.length, Number(request.headers["content-length"]));
    response.writeHead(status).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, credential: "key", refused: "refused" };
}

const created = (atoms: number): Answer => [
  201,
  JSON.stringify({ outcomes: Array.from({ length: atoms }, () => "created"), droppedLinks: 1 }),
];
const itemsOf = (contents: readonly string[]) =>
  contents.map((content, i) => ({ where: `${i}`, atom: { id: `${i}`, content } }));

test("what takes a busy server too long is sent in halves, and so is all after it; links between them are set at the end", async (context) => {
  const sizes: number[] = [];
  const target = await startServer(context, (atoms) => {
    sizes.push(atoms);
    const late = JSON.stringify({ code: "unavailable", detail: "The memory took too long." });
    return atoms > 50 ? [503, late] : created(atoms);
  });
  const result = await importLibrary(target, undefined, itemsOf(Array<string>(130).fill("x")), () => {});
  expect(result).toMatchObject({ imported: 130, leftOut: [], droppedLinks: 3 });
  // Four times in all, since a busy server may have been one for a moment.
  expect(sizes).toEqual([100, 100, 100, 100, 50, 50, 30, 50, 50]);
});

test("an atom longer than a proxy passes on is left out, and the others are imported", async (context) => {
  const refusal = "<html>413 Request Entity Too Large</html>";
  const target = await startServer(context, (atoms, length) => (length > 1_000 ? [413, refusal] : created(atoms)));
  const contents = Array.from({ length: 60 }, (_, i) => "x".repeat(i === 0 || i === 40 ? 1_000 : 1));
  const { imported, leftOut } = await importLibrary(target, undefined, itemsOf(contents), () => {});
  expect([imported, leftOut.map(({ what }) => what)]).toEqual([58, ["0", "40"]]);
});
