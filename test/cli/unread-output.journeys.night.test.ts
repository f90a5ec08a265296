/** What serves, onto a standard output that nothing reads: it answers, drains and ends as onto one that is read. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { copyEmbedded } from "../env/database/embedded-database.ts";
import { databaseUrl, describeOnPostgres } from "../env/database/engines.ts";
import { freePort } from "../env/free-port.ts";
import { NIGHTLY } from "../env/nightly.ts";
import { makePipe } from "../env/pipe.ts";
import { makeFullPipe, startOnto } from "./unread.ts";
import { makeHome } from "./up.ts";

const callStatus = async (port: number) => (await fetch(`http://127.0.0.1:${port}/atoms`)).status;

describe.skipIf(process.platform === "win32")("where nothing reads standard output", () => {
  describeOnPostgres("keyplane server", (store) => {
    const encryptionKey = randomBytes(32).toString("base64");
    const startServer = async (stdout: number, port: number, ...flags: string[]) =>
      startOnto(stdout, ["server", "--port", String(port), ...flags], {
        KEYPLANE_DATABASE_URL: (await databaseUrl(store())).href,
        KEYPLANE_ENCRYPTION_KEY: encryptionKey,
      });

    // What one process does with it `keyplane up` shows below, and by night a server.
    test.each(NIGHTLY ? ["1", "2"] : ["2"])("c44: with %s workers answers, and ends", async (workers) => {
      const port = await freePort();
      const server = await startServer(makeFullPipe().writer, port, "--workers", workers);
      expect(await callStatus(port)).toBe(401);
      expect(await server.dropped()).toBe(0);
      expect(await server.stop()).toBe(0);
    });

    // By day `keyplane up` shows it, below.
    if (NIGHTLY) {
      test("c44: answers, and drains before it ends, also where the reader has gone", async () => {
        const [pipe, port] = [makePipe(), await freePort()];
        const server = await startServer(pipe.writer, port);
        pipe.closeReader();
        expect(await callStatus(port)).toBe(401);
        expect(await server.stop()).toBe(0);
      });
    }
  });

  test("c44: keyplane up whose reader goes before it has said that it is ready answers, and drains", async () => {
    const home = makeHome();
    onTestFinished(home.remove);
    await copyEmbedded(join(home.data, "db"));
    const [pipe, port] = [makePipe(), await freePort()];
    pipe.closeReader();
    const args = ["up", "--manifests", home.manifests, "--data", home.data, "--port", String(port)];
    const up = await startOnto(pipe.writer, args, {});
    expect(await callStatus(port)).toBe(401);
    expect(await up.stop()).toBe(0);
  });

  test("c44: keyplane up answers, and leaves to a reader that comes late what it has printed and logged", async () => {
    const home = makeHome();
    onTestFinished(home.remove);
    await copyEmbedded(join(home.data, "db"));
    const [pipe, port] = [makeFullPipe(), await freePort()];
    const args = ["up", "--manifests", home.manifests, "--data", home.data, "--port", String(port)];
    const up = await startOnto(pipe.writer, args, {});
    expect(await callStatus(port)).toBe(401);
    const read = pipe.read();
    expect(await up.stop()).toBe(0);
    const lines = (await read).trimStart().split("\n");
    expect(lines).toContain(`ready http://127.0.0.1:${port}`);
    expect(lines).toContain("stopped");
    const logged = lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
    expect(logged).toContainEqual(
      expect.objectContaining({ level: 40, msg: expect.stringContaining("nothing is declared") }),
    );
  });

  if (NIGHTLY) {
    // By day a server shows it.
    test("c44: keyplane up that nothing reads to its end ends", async () => {
      const home = makeHome();
      onTestFinished(home.remove);
      await copyEmbedded(join(home.data, "db"));
      const args = ["up", "--manifests", home.manifests, "--data", home.data, "--port", "0"];
      expect(await (await startOnto(makeFullPipe().writer, args, {})).stop()).toBe(0);
    });
  }
});
