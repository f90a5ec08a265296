/** What a caller reads where a gateway's upstream gives no answer that is one, and what the log has for its operator. */
import { createServer } from "node:https";
import { BlockList } from "node:net";
import { afterEach, expect, test } from "vitest";
import { makeCertificate } from "../../env/certificate.ts";
import { freePort } from "../../env/free-port.ts";
import type { Harness } from "../harness.ts";
import { startGateway, upstreamOf } from "./gateway.ts";
import { startUpstream } from "./upstream.ts";

const UNREACHABLE =
  "The upstream cannot be reached. Your key is not at fault: the server's log says why, under this request's id.";

let harness: Harness | undefined;
const ends: (() => unknown)[] = [];
afterEach(async () => {
  await harness?.close();
  harness = undefined;
  for (const end of ends.splice(0)) await end();
});

/** @returns the status and the message of an answer, and what the log has of its request */
async function ask(baseUrl: string, fields: { readonly credential?: null } = {}) {
  const at = harness ?? (await startGateway());
  harness = at;
  const { publicId } = at.addGateway({ upstreams: [upstreamOf(baseUrl, "openai", fields)] });
  const answer = await fetch(`${at.url}/g/${publicId}/v1/embeddings`, {
    method: "POST",
    headers: { authorization: `Bearer ${at.addKey()}` },
    body: "{}",
  });
  const { error }: { error: { message: string } } = JSON.parse(await answer.text());
  const id = answer.headers.get("x-keyplane-request-id") ?? "none";
  const logged = at.lines.filter((line) => line.includes("an upstream failed") && line.includes(id)).join("");
  return { status: answer.status, message: error.message, logged };
}

test("b264: a caller reads that the upstream cannot be reached and where the cause is, and the log has the cause", async () => {
  const refused = await ask(`http://127.0.0.1:${await freePort()}`);
  expect(refused).toMatchObject({ status: 502, message: UNREACHABLE, logged: expect.stringContaining("ECONNREFUSED") });

  const untrusted = createServer(makeCertificate());
  ends.push(() => untrusted.close());
  const port = await freePort();
  await new Promise<void>((resolve) => untrusted.listen(port, "127.0.0.1", resolve));
  const hidden = await ask(`https://127.0.0.1:${port}`);
  expect(hidden).toMatchObject({ status: 502, message: UNREACHABLE });
  expect(hidden.logged).toContain("SELF_SIGNED");
});

test("b264: the log says of a private address that it is one", async () => {
  harness = await startGateway({ config: { allowedPrivateUpstreams: new BlockList() } });
  const { status, message, logged } = await ask("http://10.1.2.3:8000");
  expect([status, message]).toEqual([502, UNREACHABLE]);
  expect(logged).toContain("private or reserved");
});

test("b264: a caller reads whose part a credential is that is not there, and that an answer is none", async () => {
  expect(await ask("http://127.0.0.1:1", { credential: null })).toMatchObject({
    status: 502,
    message:
      "The gateway has no credential for this upstream at present: its owner creates the Secret that the ModelGateway names.",
  });
  const elsewhere = await startUpstream((response) =>
    response.writeHead(302, { location: "https://example.com" }).end(),
  );
  ends.push(() => elsewhere.close());
  expect(await ask(elsewhere.url)).toMatchObject({
    status: 502,
    message:
      "The upstream redirects the call, which is not followed. Your key is not at fault: the owner of the gateway corrects the upstream's base URL.",
  });
  const broken = await startUpstream((response) => response.socket?.destroy());
  ends.push(() => broken.close());
  expect(await ask(broken.url)).toMatchObject({ status: 502, message: "The upstream did not give a usable answer." });
});
