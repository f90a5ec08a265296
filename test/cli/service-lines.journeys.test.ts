/** What a server and a controller write where lines are collected: JSON, whatever it is about. */
import { randomBytes } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { databaseUrl, describeOnPostgres } from "../env/database/engines.ts";
import { NIGHTLY } from "../env/nightly.ts";
import { startServing } from "../env/serving.ts";
import { until } from "../env/until.ts";
import { keyplane } from "./up.ts";

/** One for all: a database knows those that it is used with. */
const ENCRYPTION_KEY = randomBytes(32).toString("base64");

type Line = {
  readonly level: number;
  readonly time: string;
  readonly msg: string;
  readonly error?: { message: string };
};

/** @throws SyntaxError for a line that is no JSON */
const parsed = (lines: readonly string[]): Line[] => lines.map((line) => JSON.parse(line));
/** A module that Node loads before the command. */
const preload = (source: string) => ["--import", `data:text/javascript,${encodeURIComponent(source)}`];

describeOnPostgres("a server whose lines are collected", (store) => {
  async function start(args: readonly string[], source = "") {
    const env = {
      KEYPLANE_DATABASE_URL: (await databaseUrl(store())).href,
      KEYPLANE_ENCRYPTION_KEY: ENCRYPTION_KEY,
      PLATFORM_API_KEYS: "",
    };
    const server = await startServing(["server", "--port=0", "--admin-port=0", ...args], env, preload(source));
    onTestFinished(() => void server.child.kill("SIGKILL"));
    return server;
  }

  test("says in JSON where it listens, what Node.js warns of in any of its threads, and that it ends", async () => {
    const warn = 'setTimeout(() => process.emitWarning("odd", "OddWarning"), 1000)';
    const server = await start(["--workers=2"], warn);
    const said = () => parsed(server.lines).map(({ msg }) => msg);
    await until("both threads have warned", () => said().filter((msg) => msg.includes("OddWarning")).length >= 2);
    expect(await server.stop()).toBe(0);
    for (const msg of [`ready ${server.url}`, "the server listens", "stopped"]) expect(said()).toContain(msg);
    for (const { level, time } of parsed(server.lines)) expect([level > 0, Date.parse(time) > 0]).toEqual([true, true]);
  });

  const levelsOf = (lines: readonly string[]) =>
    new Set(parsed(lines.filter((line) => !/"msg":"(ready|stop)/.test(line))).map(({ level }) => level));
  const startAt = (level: string, source = "") =>
    start([`--log-level=${level}`, "--public-url=http://keys.example.com"], source);

  // That each level ends where the next begins is for the tests of the log.
  test("says in JSON what ends it, and ends with exit code 1, and leaves out what is less than --log-level", async () => {
    const server = await startAt("warn", 'process.once("SIGUSR2", () => Promise.reject(new Error("unforeseen")))');
    expect(levelsOf(server.lines)).toEqual(new Set([40]));
    server.child.kill("SIGUSR2");
    await until("it has ended", () => server.child.exitCode !== null);
    expect(server.child.exitCode).toBe(1);
    await until("all is read", () => parsed(server.lines).some(({ error }) => error?.message === "unforeseen"));
  });

  if (NIGHTLY) {
    test("leaves out what is less than another --log-level", async () => {
      const levels = async (level: string) => {
        const server = await startAt(level);
        await server.stop();
        return levelsOf(server.lines);
      };
      expect(await levels("error")).toEqual(new Set());
      expect(await levels("info")).toEqual(new Set([30, 40]));
    });
  }
});

test.each([
  [
    "server",
    ["--port=many", "--database-url=postgres://127.0.0.1:1/none"],
    "--port: must be a port from 0 to 65535; 0 takes a free one",
  ],
  ["server", ["--porrt=1"], "unknown option '--porrt"],
  ["controller", [], "--database-url is needed"],
])("keyplane %s %s, whose lines are collected, says in JSON what is wrong", async (command, args, said) => {
  const { code, out, err } = await keyplane([command, ...args]);
  expect([code, out]).toEqual([2, ""]);
  const lines = parsed(err.trimEnd().split("\n"));
  expect(lines).toMatchObject([{ level: 50, msg: expect.stringContaining(said) }]);
});

test("help of a server is for people, wherever it goes", async () => {
  expect((await keyplane(["server", "--help"])).out).toMatch(/^Usage: keyplane server/);
});
