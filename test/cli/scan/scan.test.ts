import { execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { scanForKeys } from "../../../cli/scan/key-finder.ts";
import { lookInto } from "../../../cli/scan/scan-paths.ts";
import { mintKey } from "../../../domain/key/secret/key-format.ts";
import { type Installation, startInstallation } from "../../server/leaks/installation.ts";
import { TOKEN } from "../../server/management/api.ts";
import { keyplane } from "../up.ts";

const folder = mkdtempSync(join(tmpdir(), "keyplane-scan-"));
const inFolder = (name: string) => join(folder, name);
const [KEY, OTHER] = [mintKey(randomBytes), mintKey(randomBytes)];
const shown = (key: string) => `${key.slice(0, 12)}...`;

beforeAll(() => {
  for (const name of ["clean", "dirty/.git/objects", "dirty/deep"]) mkdirSync(inFolder(name), { recursive: true });
  writeFileSync(inFolder("clean/a.txt"), `inf_${"x".repeat(57)}\n`);
  writeFileSync(inFolder("clean/key.gz"), gzipSync(`a key: ${KEY}`));
  writeFileSync(inFolder("dirty/.git/objects/pack"), Buffer.concat([randomBytes(100_000), Buffer.from(KEY)]));
  writeFileSync(inFolder("dirty/deep/.env"), `A=1\nKEYPLANE_API_KEY=${OTHER}\n`);
  writeFileSync(inFolder("dirty/deep/name\u001b[2J"), KEY);
  symlinkSync("..", inFolder("dirty/deep/up"));
  symlinkSync(inFolder("dirty"), inFolder("link"));
  execFileSync("mkfifo", [inFolder("dirty/pipe")]);
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("keyplane scan", () => {
  test("names each place of a key below a folder, with its prefix and no more, and ends with 1", async () => {
    const { code, out, err } = await keyplane(["scan", inFolder("dirty")]);
    expect([code, err]).toEqual([1, ""]);
    const lines = out.trim().split("\n");
    expect(lines.at(-1)).toBe("2 keys in 3 places, 3 files looked into");
    const places = lines.slice(0, -1).map((line) => line.replace(/pack:\d+:\d+:/, "pack:"));
    expect(places.sort()).toEqual([
      `${inFolder("dirty/.git/objects/pack")}: ${shown(KEY)}`,
      `${inFolder("dirty/deep/.env")}:2:18: ${shown(OTHER)}`,
      `${inFolder("dirty/deep/name?[2J")}:1:1: ${shown(KEY)}`,
    ]);
    for (const key of [KEY, OTHER]) expect(out).not.toContain(key.slice(0, 20));
  });

  test("follows a link that it is given, and finds nothing where there is nothing: 0", async () => {
    expect((await keyplane(["scan", inFolder("link")])).out).toContain("2 keys in 3 places");
    const { code, out } = await keyplane(["scan", inFolder("clean"), inFolder("clean/a.txt")]);
    expect([code, out]).toEqual([0, "0 keys in 0 places, 3 files looked into\n"]);
  });

  test.runIf(process.platform === "linux")("looks into files and folders whose names are no UTF-8", async () => {
    const bytes = Buffer.concat([Buffer.from(inFolder("bytes")), Buffer.from([0x2f, 0xff])]);
    mkdirSync(bytes, { recursive: true });
    writeFileSync(Buffer.concat([bytes, Buffer.from([0x2f, 0xfe])]), KEY);
    const { code, out } = await keyplane(["scan", inFolder("bytes")]);
    const path = inFolder("bytes/\ufffd/\ufffd");
    expect([code, out]).toEqual([1, `${path}:1:1: ${shown(KEY)}\n1 key in 1 place, 1 file looked into\n`]);
  });

  test("reads a pipe that is named, as a shell's <(command) is", async () => {
    const pipe = inFolder("dirty/pipe");
    const [{ code, out }] = await Promise.all([keyplane(["scan", pipe]), writeFile(pipe, KEY)]);
    expect([code, out]).toEqual([1, `${pipe}:1:1: ${shown(KEY)}\n1 key in 1 place, 1 file looked into\n`]);
  });

  test("says so, and ends with 1, where what is named can hold no file", async () => {
    const { code, out } = await keyplane(["scan", "/dev/null"]);
    expect([code, out]).toEqual([1, expect.stringContaining("/dev/null: could not be read: is neither a file")]);
  });

  test("b317: reads no more of a file than a bound, and names one that has more, beside the keys in its beginning", async () => {
    const bytes = Buffer.from(`A=1\n${KEY}\n`);
    for (const [name, more] of [
      ["whole", ""],
      ["longer", `${OTHER}\n`],
    ] as const)
      writeFileSync(inFolder(`clean/${name}`), Buffer.concat([bytes, Buffer.from(more)]));
    const look = async (name: string) => Array.fromAsync(lookInto([inFolder(`clean/${name}`)], bytes.length));
    const [key, done] = [expect.objectContaining({ line: 2, prefix: KEY.slice(0, 12) }), { done: true }];
    expect(await look("whole")).toEqual([key, expect.objectContaining(done)]);
    expect(await look("longer")).toEqual([
      key,
      { path: inFolder("clean/longer"), why: expect.stringContaining(`it has more than ${bytes.length} bytes`) },
    ]);
    for (const name of ["whole", "longer"]) rmSync(inFolder(`clean/${name}`));
  });

  test("b317: says how to look into the rest, so that a key across the bound is found", async () => {
    const lines = (text: string) => Buffer.from(text).toString("base64").replace(/.{8}/g, "$&\n        ");
    for (const key of [KEY, lines(`x:${KEY}`), lines(Buffer.from(KEY).toString("base64"))]) {
      const bytes = Buffer.from(`${"a".repeat(2_000)} ${key}\n${"b".repeat(2_000)}`);
      writeFileSync(inFolder("clean/long"), bytes);
      for (const bound of [10, 2_000, 2_002, 2_010, 2_001 + key.length - 1, 2_001 + key.length, 3_500]) {
        const looks = await Array.fromAsync(lookInto([inFolder("clean/long")], bound));
        const [, from] = /tail -c \+(\d+) FILE/.exec(JSON.stringify(looks.at(-1))) ?? [];
        const rest = await Array.fromAsync(scanForKeys(Readable.from([bytes.subarray(Number(from) - 1)])));
        const found = [...looks.slice(0, -1), ...rest].map((look) => "prefix" in look && look.prefix);
        expect([bound, [...new Set(found)]]).toEqual([bound, [KEY.slice(0, 12)]]);
      }
    }
    rmSync(inFolder("clean/long"));
  });

  test("b316: finds a key that a Secret's manifest has in base64, and one in a header, and ends with 1", async () => {
    const base64 = (text: string) => Buffer.from(text).toString("base64");
    writeFileSync(inFolder("secret.yaml"), `kind: Secret\ndata:\n  api-key: ${base64(KEY)}\n`);
    writeFileSync(inFolder("header"), `Authorization: Basic ${base64(`x:${OTHER}`)}\n`);
    const { code, out } = await keyplane(["scan", inFolder("secret.yaml"), inFolder("header")]);
    expect([code, out.trim().split("\n")]).toEqual([
      1,
      [
        `${inFolder("secret.yaml")}:3:12: ${shown(KEY)}`,
        `${inFolder("header")}:1:25: ${shown(OTHER)}`,
        "2 keys in 2 places, 2 files looked into",
      ],
    ]);
  });

  test("reports an error without what a terminal obeys, or a key", async () => {
    const looks = [];
    for await (const look of lookInto([inFolder(`gone\u001b[2J${KEY}`)])) looks.push(look);
    const path = inFolder("gone?[2Jinf_...");
    expect(looks).toEqual([{ path, why: `ENOENT: no such file or directory, stat '${path}` }]);
  });

  test.runIf(process.platform === "linux")(
    "says of what it could not read that it could not, and ends with 1",
    async () => {
      const { code, out } = await keyplane(["scan", "-o", "json", inFolder("clean"), "/proc/self/mem"]);
      expect([code, JSON.parse(out)]).toEqual([
        1,
        { findings: [], unread: [{ path: "/proc/self/mem", why: expect.any(String) }] },
      ]);
    },
  );

  test("is used wrongly with a path that is not there, or another format", async () => {
    expect(await keyplane(["scan", inFolder("nowhere")])).toMatchObject({
      code: 2,
      err: expect.stringContaining("nowhere"),
    });
    expect((await keyplane(["scan", "-o", "xml", folder])).code).toBe(2);
  });

  test("reads standard input", async () => {
    const child = spawn(process.execPath, ["cli/main.ts", "scan", "-"], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    let out = "";
    child.stdout.on("data", (text) => {
      out += text;
    });
    child.stdin.end(`one\n  ${KEY}`);
    const [code] = await once(child, "close");
    expect([code, out]).toEqual([1, `-:2:3: ${shown(KEY)}\n1 key in 1 place, 1 file looked into\n`]);
  });
});

describe("keyplane scan, of a server", () => {
  let installation: Installation;
  let server: string[];
  beforeAll(async () => {
    installation = await startInstallation();
    server = ["--server", installation.api.url];
  });
  afterAll(() => installation.close());
  const scan = (args: readonly string[], token = TOKEN) => keyplane(["scan", ...args], { KEYPLANE_TOKEN: token });

  test("learns which keys live, and reports none by asking", async () => {
    const [live, revoked] = [await installation.makeKey("revoking"), await installation.makeKey("revoking")];
    await installation.api.send("POST", `/keys/${revoked.id}/revoke`);
    const many = Array.from({ length: 150 }, () => mintKey(randomBytes)).join("\n");
    writeFileSync(inFolder("clean/a.txt"), `${live.secret}\n${revoked.secret}\n${many}\n${live.secret}\n`);
    const { code, out } = await scan([inFolder("clean/a.txt"), ...server]);
    const lines = out.trim().split("\n");
    expect([code, lines.length, lines.at(-1)]).toEqual([1, 154, "152 keys in 153 places, 1 file looked into"]);
    const at = (line: number) => `${inFolder("clean/a.txt")}:${line}:1:`;
    const team = `team ${installation.teams.revoking}`;
    const isActive = `is active: version 1 of ${live.name} (${live.id}), ${team}`;
    expect([lines[0], lines[1], lines[2], lines[152]]).toEqual([
      `${at(1)} ${shown(live.secret)} ${isActive}`,
      `${at(2)} ${shown(revoked.secret)} is revoked: version 1 of ${revoked.name} (${revoked.id}), ${team}`,
      `${at(3)} ${shown(many)} is unknown: not a key of your teams`,
      `${at(153)} ${shown(live.secret)} ${isActive}`,
    ]);
    expect(await installation.api.tryKey(live.secret)).toBe(200);
    const json = JSON.parse((await scan(["-o", "json", inFolder("clean/a.txt"), ...server])).out);
    expect(json.findings[0]).toMatchObject({ line: 1, column: 1, state: "active", keyId: live.id, leakedAt: null });
  });

  test("says so where the server does not take the token", async () => {
    const { code, err } = await scan([inFolder("dirty"), ...server], "wrong");
    expect([code, err]).toEqual([1, expect.stringContaining("refuses the token")]);
  });
});
