/**
 * `kill -9` of the real process at random moments while keys are declared, rotated, deleted and their Secrets lost and
 * edited. The seed is fixed in CI and printed otherwise; `KEYPLANE_SEED` plays a run again.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { keyShape } from "../../domain/key/secret/key-format.ts";
import { type Home, key, makeHome, startUpProcess, team, type UpProcess, upArgs } from "../cli/up.ts";
import { NIGHTLY } from "../env/nightly.ts";
import { type Random, randomFrom } from "../env/random.ts";
import { until } from "../env/until.ts";

const MAIN = fileURLToPath(new URL("../../cli/main.ts", import.meta.url));
const ROUNDS = NIGHTLY ? 400 : 1;
const SEED = Number(process.env.KEYPLANE_SEED ?? (NIGHTLY ? Date.now() % 2 ** 31 : 20_261_120));
/** The longest life of a process after the edits of a round, and of one that is killed in its start. Milliseconds. */
const MAX_LIFE_MS = 900;
const MAX_START_MS = 1_500;

/** What is declared of a key, and every secret that was ever seen of it. */
type Declared = { trigger: number; readonly seen: Set<string> };

function makePlay(home: Home, random: Random) {
  const declared = new Map<string, Declared>();
  /** The secrets of keys that were deleted. */
  const dead = new Set<string>();
  let names = 0;
  const secretFile = (name: string) => join(home.data, "secrets", "dev", name, "api-key");
  const any = (): string | undefined => [...declared.keys()][random.below(declared.size)];

  function write(name: string, { trigger }: Declared): void {
    const draft = join(home.manifests, ".draft");
    // A short overlap: a key whose Secret is spoiled with four old versions beside it waits for the first of them to end.
    writeFileSync(
      draft,
      key(name, `preset: MCPReadOnly, rotation: { trigger: "${trigger}", overlap: { duration: 2s } }`),
    );
    renameSync(draft, join(home.manifests, `${name}.yaml`));
  }

  function see(name: string): string | undefined {
    if (!existsSync(secretFile(name))) return undefined;
    const value = readFileSync(secretFile(name), "utf8");
    if (keyShape(value) === "minted") declared.get(name)?.seen.add(value);
    return value;
  }

  const EDITS: Record<string, () => void> = {
    declare() {
      const name = `key-${++names}`;
      const made = { trigger: 0, seen: new Set<string>() };
      declared.set(name, made);
      write(name, made);
    },
    rotate() {
      const name = any();
      const one = name && declared.get(name);
      if (!name || !one) return;
      one.trigger++;
      write(name, one);
    },
    remove() {
      // The last one stays: an empty folder removes nothing.
      const name = declared.size > 3 ? any() : undefined;
      const one = name && declared.get(name);
      if (!name || !one) return;
      see(name);
      for (const secret of one.seen) dead.add(secret);
      declared.delete(name);
      rmSync(join(home.manifests, `${name}.yaml`));
    },
    lose() {
      const name = any();
      if (name) rmSync(join(home.data, "secrets", "dev", name), { recursive: true, force: true });
    },
    spoil() {
      const name = any();
      if (name && see(name) !== undefined) writeFileSync(secretFile(name), "spoiled");
    },
  };

  return {
    declared,
    dead,
    see,
    edit() {
      for (const name of declared.keys()) see(name);
      const edits = Object.values(EDITS);
      for (let n = 1 + random.below(4); n > 0; n--) edits[declared.size < 4 ? 0 : random.below(edits.length)]?.();
    },
  };
}

type Play = ReturnType<typeof makePlay>;

/** Whether a key is where its declaration says. */
async function isReconciled(home: Home, up: UpProcess, play: Play, name: string): Promise<boolean> {
  const value = play.see(name);
  const trigger = play.declared.get(name)?.trigger;
  const file = join(home.data, "status", "dev", "PlatformKey", `${name}.json`);
  const { metadata, spec, status } = JSON.parse(readFileSync(file, "utf8"));
  return (
    value !== undefined &&
    spec.rotation.trigger === String(trigger) &&
    status.observedGeneration === metadata.generation &&
    up.readyOf("dev", name).status === "True" &&
    status.versions.filter(({ state }: { state: string }) => state === "Active").length === 1 &&
    (await up.call(value)) === 200
  );
}

async function checkReconciled(home: Home, up: UpProcess, play: Play): Promise<void> {
  for (const name of play.declared.keys()) {
    await until(`${name} works`, () => isReconciled(home, up, play, name));
  }
  for (const secret of play.dead) {
    await until("a deleted key is refused", async () => (await up.call(secret)) === 401);
  }
}

function* filesOutsideSecrets(data: string): Generator<string> {
  for (const entry of readdirSync(data, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && !path.startsWith(join(data, "secrets"))) yield path;
  }
}

/** No file holds anything of the shape of a whole key. */
function expectNoPlaintext(home: Home): void {
  for (const path of filesOutsideSecrets(home.data)) {
    const content = readFileSync(path);
    for (let at = content.indexOf("inf_"); at >= 0; at = content.indexOf("inf_", at + 1)) {
      expect(keyShape(content.toString("latin1", at, at + 61)), path).not.toBe("minted");
    }
  }
}

it("a process that is killed at any moment leaves every declared key working and every deleted one dead", {
  timeout: NIGHTLY ? 7_200_000 : 600_000,
}, async (context) => {
  if (NIGHTLY) console.log(`KEYPLANE_SEED=${SEED}`);
  const random = randomFrom(SEED);
  const home = makeHome();
  let up: UpProcess | undefined;
  context.onTestFinished(async () => {
    await up?.stop("SIGKILL");
    home.remove();
  });
  home.write("team.yaml", team("team-a", "dev"));
  const play = makePlay(home, random);
  play.edit();
  const output: string[] = [];

  for (let round = 1; round <= ROUNDS; round++) {
    if (random.chance(0.2)) await dieInStart(home, random.below(MAX_START_MS));
    up = await startUpProcess(home);
    await checkReconciled(home, up, play);
    play.edit();
    await delay(random.below(MAX_LIFE_MS));
    await up.stop("SIGKILL");
    expectNoPlaintext(home);
    output.push(up.output());
  }

  up = await startUpProcess(home);
  await checkReconciled(home, up, play);
  expect(await up.stop()).toBe(0);
  const everything = [
    ...output,
    up.output(),
    ...[...filesOutsideSecrets(home.data)].map((path) => readFileSync(path, "latin1")),
  ];
  const secrets = [...play.dead, ...[...play.declared.values()].flatMap(({ seen }) => [...seen])];
  expect(secrets.length).toBeGreaterThan(ROUNDS);
  for (const secret of secrets) {
    expect(everything.some((text) => text.includes(secret.slice(12, 40)))).toBe(false);
  }
});

/** A process that does not get to serve. */
async function dieInStart(home: Home, after: number): Promise<void> {
  const child = spawn(process.execPath, [MAIN, ...upArgs(home)], {
    stdio: "ignore",
  });
  const gone = once(child, "exit");
  await delay(after);
  child.kill("SIGKILL");
  await gone;
}
