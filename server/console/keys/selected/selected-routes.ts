import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { ListedKey } from "../../../../store/keys/search/key-lists.ts";
import { clusterNames } from "../../../../store/objects/cluster-names.ts";
import { principalOf } from "../../../auth/management/author.ts";
import { principalNow } from "../../../auth/management/principal-now.ts";
import { logFailure } from "../../../http/problems/error-handler.ts";
import { problemOf } from "../../../http/problems/problem-of.ts";
import { type ChangeContext, changeContextOf } from "../../../management/change-context.ts";
import type { Management } from "../../../management/context.ts";
import { foreseeRevocation, revokeEach } from "../../../management/keys/change/revoke-each.ts";
import type { KeyJson } from "../../../management/keys/shown/key-json.ts";
import { showKeys } from "../../../management/keys/shown/shown-key.ts";
import { rightsOf } from "../../../management/rights.ts";
import { type FormBody, field, withoutKeys } from "../../../pages/forms.ts";
import { viewerOf } from "../../../pages/viewer.ts";
import type { ServerDeps } from "../../../product/deps.ts";
import { fileNameAt, sendAttachment } from "../../attachment.ts";
import { NOTHING_TYPED } from "../act/act-pages.ts";
import { givenReason } from "../act/typed-reason.ts";
import { formErrorsOf } from "../form/form-errors.ts";
import { sendKeyPage } from "../page/key-routes.ts";
import { KEYS_CSV_HEAD, keysCsv, manifestsOf } from "./export-selected.ts";
import { readTraffic } from "./key-traffic.ts";
import { confirmationOf, revokedContent, revokeSelectedContent, type SelectedRevocation } from "./selected-pages.ts";
import { readSelection, revocationUrl, type Selection, seeSelected } from "./selection.ts";

type SentForm = Pick<SelectedRevocation, "typed"> & Partial<Pick<SelectedRevocation, "refused" | "isUnconfirmed">>;
type SelectionRequest = { Querystring: Readonly<Record<string, unknown>> };

/** Serves the actions on keys that were selected in the list: exports and the revocation. */
export function selectedKeyRoutes(app: FastifyInstance, management: Management, deps: ServerDeps): void {
  exportRoutes(app, management);
  revokeRoutes(app, management, deps);
}

function exportRoutes(app: FastifyInstance, management: Management): void {
  const { store, clock } = management;

  app.get<SelectionRequest>("/keys/export.yaml", { config: { console: true } }, async (request, reply) => {
    const selection = readSelection(request.query);
    const rights = await rightsOf(store.db, principalOf(request));
    const seen = await seeSelected(store.db, rights, selection, "change keys");
    const text = await manifestsOf(store.db, rights, selection.ids, seen);
    return sendFile(reply, "yaml", "application/yaml", text);
  });

  app.get<SelectionRequest>("/keys/export.csv", { config: { console: true } }, async (request, reply) => {
    const selection = readSelection(request.query);
    const rights = await rightsOf(store.db, principalOf(request));
    const seen = await seeSelected(store.db, rights, selection);
    const keys = await shownById(management, [...seen.values()]);
    const text = `${KEYS_CSV_HEAD}${keysCsv(selection.ids, keys, await clusterNames(store.db))}`;
    return sendFile(reply, "csv", "text/csv", text);
  });

  function sendFile(reply: FastifyReply, ending: string, type: string, text: string): FastifyReply {
    return sendAttachment(reply, { name: fileNameAt("keys", clock.now(), ending), type }, text);
  }
}

function revokeRoutes(app: FastifyInstance, management: Management, deps: ServerDeps): void {
  const { store, clock } = management;

  app.get<SelectionRequest>("/keys/revoke", { config: { console: true } }, async (request, reply) =>
    sendForm(request, reply, readSelection(request.query), { typed: NOTHING_TYPED }),
  );

  app.post<{ Body: FormBody } & SelectionRequest>(
    "/keys/revoke",
    { config: { console: true } },
    async (request, reply) => {
      const selection = readSelection(request.query);
      const [reason, confirm] = [field(request.body, "reason"), field(request.body, "confirm")];
      const typed = { reason: withoutKeys(reason), confirm: withoutKeys(confirm) };
      if (confirm !== confirmationOf(selection.ids.length)) {
        return sendForm(request, reply.code(422), selection, { typed, isUnconfirmed: true });
      }
      let context: ChangeContext;
      try {
        context = await changeContextOf(management, request, givenReason(reason));
      } catch (error) {
        const { shown } = formErrorsOf(error);
        return sendForm(request, reply.code(shown.status), selection, { typed, refused: shown.detail });
      }
      const seen = await seeSelected(store.db, context.rights, selection, "revoke keys");
      /** Reads the caller's session and roles again for each key, since both may end before the last key is revoked. */
      const contextNow = async () => {
        const principal = await principalNow(deps, request);
        return { ...context, principal, rights: await rightsOf(store.db, principal) };
      };
      const outcomes = await revokeEach(selection.ids, contextNow, (error) =>
        logFailure(deps.log, request, {
          error,
          shown: problemOf(error, "POST"),
          message: "a revocation of several failed",
        }),
      );
      const keys = await shownById(management, [...seen.values()]);
      const content = revokedContent({ keys, outcomes, list: selection.list });
      return sendKeyPage(request, reply, "Revoked keys", content);
    },
  );

  async function sendForm(
    request: FastifyRequest,
    reply: FastifyReply,
    selection: Selection,
    { typed, refused = "", isUnconfirmed = false }: SentForm,
  ): Promise<FastifyReply> {
    const now = clock.now();
    const rights = await rightsOf(store.db, principalOf(request));
    const seen = await seeSelected(store.db, rights, selection, "revoke keys");
    const outcomes = selection.ids.map((id) => foreseeRevocation(id, seen.get(id), rights));
    const keys = await shownById(management, [...seen.values()]);
    const ending = outcomes.flatMap(({ id, is }) => (is === "revoked" ? (keys.get(id) ?? []) : []));
    const content = revokeSelectedContent({
      ...{ keys, outcomes, list: selection.list, typed, refused, isUnconfirmed, viewer: viewerOf(request), now },
      address: revocationUrl({ ids: ending.map(({ id }) => id), list: selection.list }),
      traffic: await readTraffic(store.db, ending, now),
    });
    return sendKeyPage(request, reply, "Revoke keys", content);
  }
}

/** Returns keys as they are shown, by their ids. */
async function shownById(
  { store, clock, receipts }: Management,
  keys: readonly ListedKey[],
): Promise<ReadonlyMap<string, KeyJson>> {
  const shown = await showKeys({ db: store.db, receiptOf: await receipts.read(), now: clock.now() }, keys);
  return new Map(shown.map((key) => [key.id, key]));
}
