import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ReportedCondition } from "../../../domain/conditions.ts";
import { saveGateway } from "../../../store/gateways/gateways.ts";
import { activateVersion } from "../../../store/keys/lifecycle/key-versions.ts";
import { revokeKey } from "../../../store/keys/lifecycle/revocation.ts";
import { recordKeyDeclaration } from "../../../store/keys/rows/key-declarations.ts";
import { saveLibrary } from "../../../store/libraries/libraries.ts";
import { recordConditions, recordKeyConditions } from "../../../store/objects/object-conditions.ts";
import { gatewayDraft, libraryDraft, makeTeam, reserveKey, run } from "../../store/fixtures.ts";
import { keyring } from "../key-index/replica-fixtures.ts";
import { type Pages, startPages } from "./pages.ts";

const SINCE = "2026-11-01T10:00:00Z";
const HOSTILE = "<img src=x>";

const said = (type: string, status: ReportedCondition["status"], reason: string, message: string) => {
  return { type, status, reason, message, lastTransitionTime: SINCE };
};
const FINE = [said("Ready", "True", "Ready", "Everything is as declared.")];
const TAKEN = [
  said("Accepted", "True", "Accepted", "It is there."),
  said("Ready", "False", "NamespaceTaken", `dev is held by PlatformTeam ${HOSTILE}.`),
  said("BudgetExhausted", "False", "BudgetLeft", "Something is left."),
];
/** It is ready, and something beside that is wrong. */
const REFUSED = [...FINE, said("CredentialsAccepted", "False", "CredentialRefused", "The provider refuses it.")];

let pages: Pages;
const paths: Record<"team" | "library" | "gateway" | "key", string> = { team: "", library: "", gateway: "", key: "" };

beforeAll(async () => {
  pages = await startPages();
  const { store } = pages;
  const home = await makeTeam(store, { name: "zebra" });
  await makeTeam(store, { name: "ant" });
  await recordConditions(store.db, "team", home, TAKEN);
  const library = libraryDraft(home);
  const { libraryId } = await run(store, (tx) => saveLibrary(tx, library));
  await recordConditions(store.db, "library", library, FINE);
  const gateway = gatewayDraft(home);
  const { gatewayId } = await run(store, (tx) => saveGateway(tx, gateway, keyring));
  await recordConditions(store.db, "gateway", gateway, REFUSED);
  const { key } = await reserveKey(store, home);
  await run(store, (tx) => activateVersion(tx, { keyId: key.id, number: 1, overlapMs: 0 }), Date.now());
  await recordKeyDeclaration(store.db, key.id, { ownerUid: "uid", generation: 1, spec: null, labels: {} });
  await recordKeyConditions(store.db, key.id, [said("Ready", "False", "SecretConflict", "Secret docs is in the way.")]);
  Object.assign(paths, { team: `/team/${home.teamId}`, library: `/libraries/${libraryId}` });
  Object.assign(paths, { gateway: `/gateways/${gatewayId}`, key: `/keys/${key.id}` });
});
afterAll(() => pages.close());

const panelOf = (text: string) => /<details class="panel" id="conditions"([^>]*)>(.*?)<\/details>/s.exec(text) ?? [];

describe("what a controller found of what is declared", () => {
  test("is on a team's page, what is wrong first, with status, reason, message and since when", async () => {
    const { text } = await pages.get(paths.team);
    const [, isOpen, panel = ""] = panelOf(text);
    expect(isOpen).toBe(" open");
    expect(panel).toMatch(
      /<th scope="row">Ready<small>Namespace taken<\/small>.*>False<.*is held by PlatformTeam &lt;img/s,
    );
    expect(panel).toContain(`<time datetime="${SINCE}"`);
    expect(panel.indexOf("Namespace taken</small>")).toBeLessThan(panel.indexOf("Accepted<small>"));
    expect(text).not.toContain(HOSTILE);
  });

  test("is folded where all of it is in order, and is no part of the page of what the API made", async () => {
    const [, isOpen, panel] = panelOf((await pages.get(paths.library)).text);
    expect([isOpen, panel]).toEqual(["", expect.stringContaining('<span class="badge good">Ready</span>')]);
    const { body } = await pages.send("POST", "/teams", { name: "by-api", spec: { members: [] } });
    expect((await pages.get(`/team/${body.id}`)).text).not.toContain('id="conditions"');
  });

  test("is on the pages of a gateway and of a key, also where it is wrong beside Ready", async () => {
    expect(panelOf((await pages.get(paths.gateway)).text)[2]).toMatch(
      /CredentialsAccepted.*Credential refused.*Ready/s,
    );
    expect(panelOf((await pages.get(paths.key)).text)[2]).toContain("Secret docs is in the way.");
  });

  test("is a badge of the lists, of what is wrong alone", async () => {
    const row = async (list: string, path: string) =>
      new RegExp(`<a href="/dashboard${path}">.*?<tr>|<a href="/dashboard${path}">.*`, "s").exec(
        (await pages.get(list)).text,
      )?.[0];
    expect(await row("/team", paths.team)).toContain('<span class="badge bad">Not ready: namespace taken</span>');
    expect(await row("/gateways", paths.gateway)).toContain('<span class="badge warn">Credential refused</span>');
    expect(await row("/keys", paths.key)).toContain('<span class="badge bad">Not ready: secret conflict</span>');
    expect(await row("/libraries", paths.library)).not.toContain('class="badge');
    expect((await pages.get("/team")).text.match(/Not ready/g)).toHaveLength(1);
  });

  test("is shown whatever characters are in its message", async () => {
    const { db } = pages.store;
    const keyId = paths.key.split("/").at(-1) ?? "";
    await recordKeyConditions(db, keyId, [said("Ready", "False", "Retrying", "a\0b \ud83d")]);
    expect((await pages.get(paths.key)).text).toContain("a\ufffdb \ufffd");
  });

  test("is not shown of a key as it was before its revocation", async () => {
    const { store } = pages;
    const keyId = paths.key.split("/").at(-1) ?? "";
    await recordKeyConditions(store.db, keyId, FINE);
    expect(panelOf((await pages.get(paths.key)).text)).not.toEqual([]);
    await run(store, (tx) => revokeKey(tx, keyId, "ByHand"));
    expect(panelOf((await pages.get(paths.key)).text)).toEqual([]);
    await recordKeyConditions(store.db, keyId, [said("Ready", "False", "Revoked", "The key was revoked by hand.")]);
    expect(panelOf((await pages.get(paths.key)).text)[2]).toContain("revoked by hand");
  });
});
