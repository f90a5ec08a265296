import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { runPlan } from "../../../cli/plan/plan.ts";
import { until } from "../../env/until.ts";
import { key, keyplane, makeHome, startUp, team, tokenOf, type Up } from "../up.ts";

/** What `up` has: its manifests stay as they are, and each test plans others. */
const home = makeHome();
const wanted = makeHome();
let up: Up;
let lastUse: number;

const library = (name: string, spec = "deletionPolicy: Retain", namespace = "dev") =>
  `apiVersion: keyplane.dev/v1alpha1\nkind: MemoryLibrary\nmetadata: { name: ${name}, namespace: ${namespace} }\nspec: { ${spec} }\n---\n`;
const KEYS: Readonly<Record<string, string>> = {
  plain: "preset: MCPReadOnly",
  kept: "preset: MCPReadOnly, deletionPolicy: Retain",
  bound: "scopes: [memory:read], libraryAccess: { mode: Restricted, libraryRefs: [{ name: notes }, { name: diary }] }",
  placed: "preset: MCPReadOnly, secret: { name: here }",
  byhand: "preset: MCPReadOnly",
};

const NARROWED = key("plain", "preset: MCPReadOnly, allowedCIDRs: [192.0.2.0/24]");
const today = () => new Date().toISOString().slice(0, 10);

/** All that `up` has, but for what is given instead; an empty text leaves a file out. */
function declare(changes: Readonly<Record<string, string>> = {}): void {
  const files = {
    ...{ team: team("research", "dev", "spare"), other: team("support", "helpdesk") },
    ...{ notes: library("notes"), diary: library("diary", "deletionPolicy: Delete") },
    ...Object.fromEntries(Object.entries(KEYS).map(([name, spec]) => [name, key(name, spec)])),
    ...changes,
  };
  for (const [name, text] of Object.entries(files)) {
    if (text === "") rmSync(join(wanted.manifests, `${name}.yaml`), { force: true });
    else wanted.write(`${name}.yaml`, text);
  }
}

async function plan(data?: string, env = {}): Promise<{ code: number; lines: string[] }> {
  const lines: string[] = [];
  const options = { paths: [wanted.manifests], ...(data === undefined ? {} : { data }) };
  const out = (text: string) =>
    lines.push(
      ...text
        .replaceAll(wanted.manifests, "DIR")
        .replace(/inf_\w{8}/g, "inf_")
        .split("\n"),
    );
  const code = await runPlan(options, env, out, lastUse + 3 * 60_000 + 30_000);
  return { code, lines };
}

beforeAll(async () => {
  declare();
  for (const [name, spec] of Object.entries(KEYS)) home.write(`${name}.yaml`, key(name, spec));
  home.write("team.yaml", team("research", "dev", "spare") + team("support", "helpdesk"));
  home.write("libraries.yaml", library("notes") + library("diary", "deletionPolicy: Delete"));
  up = await startUp(home);
  for (const name of Object.keys(KEYS)) await up.waitFor("dev", name, "Ready");
  await until("a use", async () => (await up.call(up.secretOf("dev", "plain"))) === 200);
  await keyplane(["revoke", "dev/byhand", "--data", home.data]);
  await up.waitFor("dev", "byhand", "Revoked");
  const lastUsedAt = await until("the use to be written", async () => {
    const { out } = await keyplane(["get", "keys", "--server", up.url, "-o", "json"], {
      KEYPLANE_TOKEN: tokenOf(home),
    });
    return JSON.parse(out).items.find(({ name }: { name: string }) => name === "plain").lastUsedAt;
  });
  lastUse = Date.parse(lastUsedAt);
  await until("the caller's network to be written", async () =>
    (await keyplane(["describe", "key", "dev/plain", "--data", home.data])).out.includes("Called from:"),
  );
});
beforeEach(() => declare());
afterAll(async () => {
  await up?.stop();
  home.remove();
  wanted.remove();
});

describe("keyplane plan without --data", () => {
  test("shows everything as new, with the scopes and the Secret of each key", async () => {
    const { code, lines } = await plan();
    expect(code).toBe(0);
    expect(lines).toContain("+ create PlatformTeam research");
    expect(lines).toContain("+ create PlatformKey dev/placed: memory:read, in Secret dev/here");
    expect(lines.at(-1)).toBe("9 to create, 0 to change, 0 to delete, 0 unchanged");
  });

  test("shows a key that will not be ready, and why", async () => {
    declare({
      stray: key("stray", "preset: MCPReadOnly", "unowned"),
      plain: key("plain", "preset: MCPReadOnly, mcpDefaultLibraryRef: { name: gone }"),
    });
    const { code, lines } = await plan();
    expect(code).toBe(0);
    expect(lines).toContain("+ create PlatformKey unowned/stray: no key is minted yet");
    expect(lines).toContainEqual(
      expect.stringMatching(/^! PlatformKey unowned\/stray will not be ready: NamespaceUnclaimed: .*PlatformTeam/),
    );
    expect(lines).toContainEqual(
      expect.stringMatching(/^! PlatformKey dev\/plain will not be ready: ReferenceNotFound: MemoryLibrary dev\/gone/),
    );
    declare({ stray: "" });
  });

  test("shows a key that is to be taken over, and nothing minted for it", async () => {
    const hash = `{ sha256: ${"a".repeat(64)}, prefix: inf_abcdefgh }`;
    const manifest = key("taken", `preset: MCPReadOnly, source: { type: ImportHash, hash: ${hash} }`);
    declare({
      taken: manifest.replace("namespace: dev", "namespace: dev, annotations: { keyplane.dev/take-over: key_abc }"),
    });
    const { lines } = await plan();
    expect(lines.filter((line) => line.includes("taken"))).toEqual([
      "+ take over key key_abc as PlatformKey dev/taken: the same secret, declared from here on",
    ]);
    declare({ taken: "" });
  });

  test("shows a Secret that is in the way", async () => {
    declare({
      secret: "apiVersion: v1\nkind: Secret\nmetadata: { name: here, namespace: dev }\nstringData: { a: b }\n",
    });
    expect((await plan()).lines).toContainEqual(
      expect.stringMatching(/^! PlatformKey dev\/placed will not be ready: SecretConflict/),
    );
    declare({ secret: "" });
  });

  test("without a path, or with one that does not exist, is wrong use", async () => {
    expect((await keyplane(["plan"])).code).toBe(2);
    expect((await keyplane(["plan", "-f", "/nowhere"])).code).toBe(2);
  });
});

describe("keyplane plan with the data folder", () => {
  /** The lines of what is changed, without the summary. */
  const changes = async (files: Readonly<Record<string, string>>) => {
    declare(files);
    const { code, lines } = await plan(home.data);
    return { code, lines: lines.slice(0, -1) };
  };

  test("shows nothing where nothing would change, a key that was revoked by hand included", async () => {
    expect(await plan(home.data)).toEqual({ code: 0, lines: ["0 to create, 0 to change, 0 to delete, 9 unchanged"] });
  });

  test("shows a new key whose Secret is there and no key's, and a gateway whose credential is not", async () => {
    mkdirSync(join(home.data, "secrets/dev/left"), { recursive: true });
    const upstream =
      '{ name: a, dialect: openai, baseURL: "https://api.example.com", credentialRef: { name: provider } }';
    const gateway = `apiVersion: keyplane.dev/v1alpha1\nkind: ModelGateway\nmetadata: { name: main, namespace: dev }\nspec: { upstreams: [${upstream}] }\n`;
    try {
      const { lines } = await changes({ left: key("left"), gateway });
      expect(lines.filter((line) => line.startsWith("!"))).toEqual([
        expect.stringMatching(
          /^! ModelGateway dev\/main will not be ready: CredentialNotFound: There is no Secret prov/,
        ),
        expect.stringMatching(/^! PlatformKey dev\/left will not be ready: SecretConflict: Secret left exists/),
      ]);
    } finally {
      rmSync(join(home.data, "secrets/dev/left"), { recursive: true });
      declare({ left: "", gateway: "" });
    }
  });

  test("shows what of a policy changes, and from what to what", async () => {
    expect(
      await changes({
        plain: key("plain", "preset: MCPReadWrite, expiresAt: 2030-01-01T00:00:00Z, allowedCIDRs: [10.0.0.0/8]"),
      }),
    ).toEqual({
      code: 0,
      lines: [
        "~ update PlatformKey dev/plain: scopes: memory:read -> memory:read, memory:write",
        "~ update PlatformKey dev/plain: networks: any -> 10.0.0.0/8",
        "~ update PlatformKey dev/plain: expires: never -> 2030-01-01T00:00:00.000Z",
        expect.stringMatching(
          /^! PlatformKey dev\/plain refuses calls from 127\.0\.0\.0\/24, where it was last used on/,
        ),
      ],
    });
  });

  test("shows once that versions end after a time from now on, and of a new key that it is made", async () => {
    const ends = "preset: MCPReadOnly, expiresAfter: 2160h";
    const { lines } = await changes({ plain: key("plain", ends), fresh: key("fresh", ends) });
    expect(lines).toEqual([
      "+ create PlatformKey dev/fresh: memory:read, in Secret dev/fresh",
      '~ update PlatformKey dev/plain: spec.expiresAfter: none -> "2160h"',
    ]);
    declare({ fresh: "" });
  });

  test("shows a rotation, what asks for it, and until when the old version works", async () => {
    const { lines } = await changes({ plain: key("plain", 'preset: MCPReadOnly, rotation: { trigger: "2026-11" }') });
    expect(lines).toEqual([
      '~ update PlatformKey dev/plain: spec.rotation: none -> {"trigger":"2026-11"}',
      expect.stringMatching(
        /^~ rotate PlatformKey dev\/plain: version 2, since spec.rotation.trigger changes; version 1 \(inf_\.\.\.\) works until 20\d\d-/,
      ),
    ]);
  });

  test("says whom of late a key's narrower networks refuse, and that fails no check", async () => {
    declare({ plain: NARROWED });
    const { code, out } = await keyplane(["plan", "-f", wanted.manifests, "--data", home.data, "--fail-on", "blocked"]);
    expect(code).toBe(0);
    expect(out.trimEnd().split("\n")).toEqual([
      "~ update PlatformKey dev/plain: networks: any -> 192.0.2.0/24",
      `! PlatformKey dev/plain refuses calls from 127.0.0.0/24, where it was last used on ${today()}`,
      "0 to create, 1 to change, 0 to delete, 8 unchanged, 1 to look at",
    ]);
  });

  test("says so of each key where the team's networks become narrower", async () => {
    const { lines } = await changes({
      team: team("research", "dev", "spare").replace("spec: {", "spec: { allowedCIDRs: [127.0.0.8/29], "),
    });
    expect(lines).toContain(
      `! PlatformKey dev/plain refuses calls from a part of 127.0.0.0/24, where it was last used on ${today()}`,
    );
    expect(lines.filter((line) => line.startsWith("!") && line.includes("dev/placed"))).toEqual([]);
  });

  test("says nothing where the callers of late stay within the networks", async () => {
    const { lines } = await changes({ plain: NARROWED.replace("192.0.2.0/24", "127.0.0.0/8") });
    expect(lines.filter((line) => line.startsWith("!"))).toEqual([]);
  });

  test("shows a removal with the live traffic that it would cut, and the Secret that goes", async () => {
    expect((await changes({ plain: "" })).lines).toEqual([
      expect.stringMatching(
        /^- revoke PlatformKey dev\/plain \(inf_\.\.\.\): last used 3 minutes ago, at 20\S+, of late from 127\.0\.0\.0\/24$/,
      ),
      "- delete Secret dev/plain",
    ]);
  });

  test("says so of a key that was never used", async () => {
    expect((await changes({ placed: "" })).lines[0]).toMatch(
      /^- revoke PlatformKey dev\/placed \(inf_\.\.\.\): never used$/,
    );
  });

  test("shows that a key with Retain goes on without a declaration", async () => {
    expect((await changes({ kept: "" })).lines).toEqual([
      "- release PlatformKey dev/kept (inf_...): it works on, and no declaration governs it",
    ]);
  });

  test("shows what the loss of a library does to the keys that name it, and to its atoms", async () => {
    const { lines } = await changes({ diary: "" });
    expect(lines).toEqual([
      "- delete MemoryLibrary dev/diary: its atoms are deleted",
      "~ update PlatformKey dev/bound: libraries: dev/diary, dev/notes -> dev/notes",
      expect.stringMatching(/^! PlatformKey dev\/bound will not be ready: ReferenceNotFound/),
    ]);
  });

  test("shows that keys are revoked and minted anew when their namespace goes to another team", async () => {
    const { lines } = await changes({ team: team("research", "spare"), other: team("support", "helpdesk", "dev") });
    expect(lines).toContainEqual(
      expect.stringMatching(
        /^- revoke PlatformKey dev\/plain \(inf_\.\.\.\), since its namespace goes to another team/,
      ),
    );
    expect(lines).toContain("+ create PlatformKey dev/plain: memory:read, in Secret dev/plain");
  });

  test("shows that a key whose namespace no team claims any more is refused, and keeps what it refers to", async () => {
    const { lines } = await changes({ team: team("research", "spare") });
    expect(lines).toContainEqual(
      expect.stringMatching(/^! PlatformKey dev\/bound will not be ready: NamespaceUnclaimed/),
    );
    expect(lines.filter((line) => line.startsWith("~ update PlatformKey"))).toEqual([]);
  });

  test("shows that a suspension and a declared revocation are that and no more", async () => {
    expect((await changes({ plain: key("plain", "preset: MCPReadOnly, state: Suspended") })).lines).toEqual([
      "~ update PlatformKey dev/plain: state: Active -> Suspended",
    ]);
    expect((await changes({ plain: key("plain", "preset: MCPReadOnly, state: Revoked") })).lines).toEqual([
      expect.stringMatching(/^- revoke PlatformKey dev\/plain \(inf_\.\.\.\), as declared: last used/),
    ]);
  });

  test("refuses what may not change, says where, and holds what it may hide", async () => {
    const { code, lines } = await changes({
      placed: `${key("placed", "preset: MCPReadOnly, secret: { name: there }")}# and plain\n---\n[`,
      plain: "",
    });
    expect(code).toBe(1);
    expect(lines).toEqual([
      expect.stringMatching(/^! refuse DIR\/placed\.yaml:8:2: error: this is not YAML/),
      expect.stringMatching(/^! refuse DIR\/placed\.yaml:4:\d+: error: spec\.secret/),
      expect.stringMatching(
        /^! held as before: PlatformKey dev\/plain: the fault at DIR\/placed\.yaml:\d+ may hide them/,
      ),
    ]);
  });

  test("c49: shows as held what up would hold, and why, beside what is new", async () => {
    wanted.write("plain.yaml", "");
    wanted.write("more.yaml", key("new"));
    const { lines } = await plan(home.data);
    const says = "! held as before: PlatformKey dev/plain: plain.yaml is empty. Write it again; to end what was in it";
    expect(lines.filter((line) => line.includes("dev/plain"))).toEqual([expect.stringContaining(says)]);
    expect(lines.at(-1)).toBe("1 to create, 0 to change, 0 to delete, 9 unchanged, 1 to look at");
    rmSync(join(wanted.manifests, "more.yaml"));
  });

  test("c49: shows on the folder of up itself what it holds", async () => {
    const lines: string[] = [];
    home.write("kept.yaml", "");
    try {
      await runPlan(
        { paths: [home.manifests], data: home.data },
        {},
        (text) => lines.push(...text.split("\n")),
        lastUse,
      );
    } finally {
      home.write("kept.yaml", key("kept", KEYS.kept));
    }
    expect(lines).toEqual([
      expect.stringContaining("! held as before: PlatformKey dev/kept: kept.yaml is empty."),
      "0 to create, 0 to change, 0 to delete, 9 unchanged, 1 to look at",
    ]);
  });

  test("c49: shows as ended what ends where the file is replaced whole, though it ends within a line", async () => {
    const { lines } = await changes({ plain: key("new").trimEnd() });
    expect(lines).toEqual([
      expect.stringMatching(/^\+ create PlatformKey dev\/new/),
      expect.stringMatching(/^- revoke PlatformKey dev\/plain/),
      expect.stringMatching(/^- delete Secret dev\/plain/),
    ]);
  });

  test("c49: shows what is gone as held where a file is being written all the time", async () => {
    declare({ plain: "" });
    const writer = setInterval(() => wanted.write("busy.yaml", "# being written"), 20);
    try {
      const why = "nothing is removed while the manifests cannot be read in full (busy.yaml is being written).";
      const { lines } = await plan(home.data);
      expect(lines.filter((line) => line.includes("dev/plain"))).toEqual([
        expect.stringMatching(/^! held as before: /),
      ]);
      expect(lines[0]).toContain(why);
    } finally {
      clearInterval(writer);
      rmSync(join(wanted.manifests, "busy.yaml"));
    }
  });

  test("b471: shows of a key whose deletion waits that it follows its manifest, and ends where its protection is lifted", async () => {
    const guarded = (isProtected: boolean) => key("guarded", `preset: MCPReadOnly, deletionProtection: ${isProtected}`);
    const remove = () => rmSync(join(home.manifests, "guarded.yaml"));
    home.write("guarded.yaml", guarded(true));
    await up.waitFor("dev", "guarded", "Ready");
    remove();
    await up.waitFor("dev", "guarded", "DeletionProtected");
    expect((await changes({ guarded: guarded(false) })).lines).toEqual([
      "~ update PlatformKey dev/guarded: spec.deletionProtection: true -> false",
      "- revoke PlatformKey dev/guarded (inf_...), since its deletion goes on: never used",
      "- delete Secret dev/guarded",
      "+ create PlatformKey dev/guarded: memory:read, in Secret dev/guarded",
    ]);
    expect((await changes({ guarded: guarded(true) })).lines).toEqual([]);
    declare({ guarded: "" });
    expect((await plan(home.data)).lines).toEqual(["0 to create, 0 to change, 0 to delete, 10 unchanged"]);

    const secret = up.secretOf("dev", "guarded");
    home.write("guarded.yaml", guarded(false));
    await until("its end", async () => (await up.call(secret)) === 401);
    // A further change makes up look before it would by itself.
    home.write("guarded.yaml", `${guarded(false)}# again\n`);
    await until("another key", async () => (await up.call(up.secretOf("dev", "guarded"))) === 200);
    remove();
    await until("nothing to be left of it", () => !existsSync(join(home.data, "status/dev/PlatformKey/guarded.json")));
  });

  test("b472: shows that the keys of a namespace work on where its team has it back, and end where another team gets it", async () => {
    const names = Object.keys(KEYS).filter((name) => name !== "byhand");
    const ready = (reason: string) => Promise.all(names.map((name) => up.waitFor("dev", name, reason)));
    home.write("team.yaml", team("research", "spare") + team("support", "helpdesk"));
    await ready("NamespaceUnclaimed");
    expect((await changes({})).lines).toEqual([
      '~ update PlatformTeam research: spec.namespaces: ["spare"] -> ["dev","spare"]',
    ]);
    const { lines } = await changes({ other: team("support", "helpdesk", "dev"), team: team("research", "spare") });
    expect(lines).toContainEqual(
      expect.stringMatching(
        /^- revoke PlatformKey dev\/plain \(inf_\.\.\.\), since its namespace goes to another team/,
      ),
    );
    home.write("team.yaml", team("research", "dev", "spare") + team("support", "helpdesk"));
    await ready("Ready");
    expect(await up.call(up.secretOf("dev", "plain"))).toBe(200);
  });

  test("get and describe show from where a key was called, as a server knows it", async () => {
    const described = (await keyplane(["describe", "key", "dev/plain", "--data", home.data])).out;
    expect(described).toMatch(new RegExp(`Called from: +127.0.0.0/24, last on ${today()}`));
    const asked = ["get", "keys", "-o", "wide", "--server", up.url];
    const { out } = await keyplane(asked, { KEYPLANE_TOKEN: tokenOf(home) });
    expect(out).toContain("CALLED FROM");
    expect(out).toContain("127.0.0.0/24");
  });

  test("shows the same while keyplane up does not run, but for what only a server knows", async () => {
    await up.stop();
    expect((await changes({ plain: NARROWED })).lines).toContain(
      "! PlatformKey dev/plain gets narrower networks, and whom they refuse is known to a running server alone",
    );
    declare();
    expect((await changes({ placed: "" })).lines).toEqual([
      "- revoke PlatformKey dev/placed (inf_...): when it was last used is known to a running server alone",
      "- delete Secret dev/here",
    ]);
  });

  test("is wrong use where the folder is not one of keyplane up", async () => {
    expect((await keyplane(["plan", "-f", wanted.manifests, "--data", wanted.manifests])).code).toBe(2);
  });
});
