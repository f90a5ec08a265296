import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { principalOf } from "../../../auth/management/author.ts";
import { problem } from "../../../http/problems/problem.ts";
import { changeContextOf } from "../../../management/change-context.ts";
import type { Management } from "../../../management/context.ts";
import { creationBy } from "../../../management/creation.ts";
import { createKey } from "../../../management/keys/make/api-managed-keys.ts";
import { makeShownKey } from "../../../management/keys/make/make-shown-key.ts";
import { allows, mayInSomeTeam, type Rights, rightsOf, visibleTeams } from "../../../management/rights.ts";
import { type FormBody, newSubmissionId, readSubmissionId } from "../../../pages/forms.ts";
import { sendConsolePage, sendPage } from "../../../pages/send-page.ts";
import { viewerOf } from "../../../pages/viewer.ts";
import { isAbandoned, showOnce } from "../once/show-once.ts";
import { faultsOfNewKey } from "./all-faults.ts";
import { bindingsFor, teamsFor } from "./bindings.ts";
import { createContent } from "./create-page.ts";
import { manifestOfForm } from "./form-manifest.ts";
import { EMPTY_FIELDS, fieldsWithoutKeys, type KeyFields, readKeyFields, specOfFields } from "./key-fields.ts";
import type { FormErrors } from "./key-form.ts";
import { endOfLifetime } from "./lifetimes.ts";
import { manifestPanel } from "./manifest-panel.ts";

/** Maximum bytes of a form whose manifest is shown as it is typed: more than any key that can be made needs. */
const MAX_TYPED = 65_536;

/** Serves the form that makes a key, and its manifest. */
export function keyCreateRoutes(app: FastifyInstance, management: Management, publicUrl: URL | null): void {
  const { store, prices } = management;

  app.get("/keys/new", { config: { console: true } }, async (request, reply) => {
    const rights = await rightsOf(store.db, principalOf(request));
    requireMaker(rights);
    const { offered } = await teamsFor(store.db, makerTeams(rights));
    const [only, ...others] = offered.map(({ value }) => value);
    const team = others.length === 0 ? (only ?? "") : "";
    const fields = { ...EMPTY_FIELDS, team, budgetCurrency: prices.current()?.currency ?? "" };
    return showForm(request, reply, rights, fields, undefined, newSubmissionId());
  });

  app.post<{ Body: FormBody }>("/keys/new", { config: { console: true } }, async (request, reply) => {
    const fields = readKeyFields(request.body);
    const once = readSubmissionId(request.body);
    const context = await changeContextOf(management, request, {});
    const { name, team, lifetime } = fields;
    const [body, spec] = [{ name, team, namespace: "" }, specOfFields(fields)];
    try {
      const creation = creationBy(request, once, ["console", { ...body, spec }, lifetime]);
      const form = { creation, context, isLeft: () => isAbandoned(reply) };
      const made = await makeShownKey(management, form, async (tx) =>
        createKey(tx, context, { ...body, spec: { ...spec, ...(await endOfLifetime(tx, lifetime)) } }),
      );
      return await showOnce(store.db, request, reply, made, publicUrl);
    } catch (error) {
      const { rights } = context;
      const { shown, errors } = await faultsOfNewKey(store.db, error, { fields, rights, namespace: "" });
      return showForm(request, reply.code(shown.status), rights, fields, errors, once);
    }
  });

  app.post<{ Body: FormBody }>(
    "/keys/new/manifest",
    { config: { console: true }, bodyLimit: MAX_TYPED },
    async (request, reply) => {
      const rights = await rightsOf(store.db, principalOf(request));
      requireMaker(rights);
      const fields = readKeyFields(request.body);
      if (request.headers["hx-request"] === undefined) {
        return showForm(request, reply, rights, fields, undefined, readSubmissionId(request.body));
      }
      return sendPage(reply, manifestPanel(await manifestOfForm(management, rights, fields), false));
    },
  );

  /**
   * Sends the form. @param errors errors of a form that was sent to make a key; undefined for any other, which shows
   * the faults of its manifest
   */
  async function showForm(
    request: FastifyRequest,
    reply: FastifyReply,
    rights: Rights,
    fields: KeyFields,
    errors: FormErrors | undefined,
    once: string,
  ) {
    const manifest = await manifestOfForm(management, rights, fields);
    const teamIds = makerTeams(rights);
    const content = createContent({
      ...{ fields: fieldsWithoutKeys(fields), manifest, once, viewer: viewerOf(request) },
      errors: errors ?? { ...manifest.errors, whole: "" },
      bindings: await bindingsFor(store.db, teamIds),
      teams: await teamsFor(store.db, teamIds),
    });
    return sendConsolePage(request, reply, { title: "Create key", section: "keys", content });
  }
}

/** Returns the ids of the teams that a person may make keys for; undefined for all. */
function makerTeams(rights: Rights): string[] | undefined {
  return visibleTeams(rights)?.filter((id) => allows(rights, id, "make keys"));
}

/** Requires that a person may make a key in some team. @throws Problem `forbidden` */
function requireMaker(rights: Rights): void {
  if (mayInSomeTeam(rights, "make keys")) return;
  throw problem("forbidden", "Your role lets you look at keys, and make none: it takes admin or member.");
}
