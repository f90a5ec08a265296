import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { managementToken } from "../../../server/auth/management/management-token.ts";
import { managementRoutes } from "../../../server/management/routes.ts";
import type { Store } from "../../../store/database/store.ts";
import { removeLibrary, saveLibrary } from "../../../store/libraries/libraries.ts";
import { openLibrary } from "../../../store/libraries/reachable-libraries.ts";
import { listSubjects } from "../../../store/libraries/subjects.ts";
import { openMigrated } from "../../env/database/engines.ts";
import { type Harness, startHarness } from "../../server/harness.ts";
import { libraryDraft, makeTeam, run, unique } from "../../store/fixtures.ts";
import { keyplane } from "../up.ts";

const TOKEN = "kpt_the-token";
const folder = mkdtempSync(join(tmpdir(), "keyplane-subjects-"));
let store: Store;
let server: Harness;
let as: string[];
beforeAll(async () => {
  store = await openMigrated();
  const mounts = [{ at: "/api/v1", routes: managementRoutes }];
  server = await startHarness({ mounts, store, managementToken: managementToken("bootstrap-token", TOKEN) });
  writeFileSync(join(folder, "token"), TOKEN);
  as = ["--server", server.url, "--token-file", join(folder, "token")];
});
afterAll(async () => {
  await server.close();
  await store.close();
  rmSync(folder, { recursive: true });
});

type Home = Awaited<ReturnType<typeof makeTeam>>;

/** A library in which a subject has saved something. */
async function libraryOf(home: Home, name: string, subject: string) {
  const draft = libraryDraft(home, { name });
  const { libraryId } = await run(store, (tx) => saveLibrary(tx, draft));
  await openLibrary(store.db, { teamId: home.teamId, libraryIds: null, subject }, libraryId);
  return { libraryId, retain: () => run(store, (tx) => removeLibrary(tx, { ...draft, policy: "Retain" })) };
}

test("the subjects of a library are listed and erased, also once its declaration is gone and its atoms are retained", async () => {
  const name = unique("library");
  const { libraryId, retain } = await libraryOf(await makeTeam(store), name, "user-1");
  const listed = () => keyplane(["memory-subjects", "--library", name, ...as]);
  expect(await listed()).toMatchObject({ code: 0, out: "user-1\n" });
  await retain();
  expect(await listed()).toMatchObject({ code: 0, out: "user-1\n" });
  const erased = await keyplane(["memory-erase-subject", "user-1", "--library", name, ...as]);
  expect(erased).toMatchObject({ code: 0, out: `Erased: library ${name} has nothing of user-1 any more.\n` });
  expect(await listSubjects(store.db, libraryId, { limit: 9 })).toEqual([]);
});

test("of several libraries of a name one is chosen by its id, which the message says", async () => {
  const [one, other] = [await makeTeam(store), await makeTeam(store)];
  const name = unique("library");
  const gone = await libraryOf(one, name, "user-1");
  await gone.retain();
  const there = await libraryOf(other, name, "user-2");
  const { code, err } = await keyplane(["memory-subjects", "--library", name, ...as]);
  expect([code, err]).toEqual([
    2,
    expect.stringContaining(`${gone.libraryId} (${one.namespace}/${name} of team ${one.name}, retained)`),
  ]);
  expect(err).toContain(`${there.libraryId} (${other.namespace}/${name} of team ${other.name})`);
  const listed = await keyplane(["memory-subjects", "--library", gone.libraryId, ...as]);
  expect(listed).toMatchObject({ code: 0, out: "user-1\n" });
});

test("a library that is nowhere is named, with what lists those that there are", async () => {
  const { code, err } = await keyplane(["memory-subjects", "--library", "nowhere", ...as]);
  expect([code, err]).toEqual([1, expect.stringContaining("there is no library nowhere, nor one that is retained")]);
});
