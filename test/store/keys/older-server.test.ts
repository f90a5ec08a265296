import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as present from "../../../domain/access/authorize.ts";
import type { SubjectRule } from "../../../domain/access/subject.ts";
import * as presentRecords from "../../../store/keys/key-records.ts";
import { updateKeyPolicy } from "../../../store/keys/keys.ts";
import { listAtoms } from "../../../store/memory/atom-list.ts";
import { insertAtom } from "../../../store/memory/atom-writes.ts";
import { saveLibrary } from "../../../store/memory/libraries.ts";
import { openLibrary } from "../../../store/memory/reachable-libraries.ts";
import { describeOnEachEngine } from "../../env/database/engines.ts";
import { takeOutSources } from "../../env/database/previous-version.ts";
import { libraryDraft, makeTeam, policyOf, reserve, run, unique } from "../fixtures.ts";
import { PLAIN } from "../memory/plain-atom.ts";

type Code = {
  readonly authorize: typeof present.authorize;
  readonly records: typeof presentRecords;
  readonly listAtoms: typeof listAtoms;
};
let older: Code;
let remove: () => Promise<void>;
beforeAll(async () => {
  const { root, remove: away } = await takeOutSources(["domain", "store"]);
  remove = away;
  symlinkSync(join(import.meta.dirname, "../../../node_modules"), join(root, "node_modules"));
  const { authorize } = await import(join(root, "domain/access/authorize.ts"));
  const records = await import(join(root, "store/keys/key-records.ts"));
  const lists = await import(join(root, "store/memory/atom-list.ts"));
  older = { authorize, records, listAtoms: lists.listAtoms };
});
afterAll(() => remove());
