import type { Dialect, GatewayRecord, RouteRecord } from "../../../domain/access/key-record.ts";

/** The two answers that a format has about models. */
type Shape = { readonly one: (model: string) => object; readonly list: (models: readonly string[]) => object };

/** Methods that a Gemini client may call with a model; only the upstream knows which of them it can do for a route. */
const GEMINI_METHODS = ["generateContent", "countTokens", "embedContent", "batchEmbedContents"];
/** Date of release of each route: a declaration has none, and the formats want one. */
const NO_DATE = "1970-01-01T00:00:00Z";

const openai = (id: string) => ({ id, object: "model", created: 0, owned_by: "keyplane" });
const gemini = (model: string) => ({
  name: `models/${model}`,
  version: "",
  displayName: model,
  supportedGenerationMethods: GEMINI_METHODS,
});
const anthropic = (id: string) => ({ type: "model", id, display_name: id, created_at: NO_DATE });

const SHAPES: Readonly<Record<Dialect, Shape>> = {
  openai: { one: openai, list: (models) => ({ object: "list", data: models.map(openai) }) },
  gemini: { one: gemini, list: (models) => ({ models: models.map(gemini) }) },
  anthropic: {
    one: anthropic,
    list: (models) => ({
      data: models.map(anthropic),
      has_more: false,
      first_id: models[0] ?? null,
      last_id: models.at(-1) ?? null,
    }),
  },
};

/**
 * Returns the logical routes that a key may name in a format: all that a gateway knows of models by itself (spec §4). A
 * route whose upstream speaks another format cannot be called in this one: nothing is translated.
 */
export function nameableRoutes(
  { routes, upstreams }: Pick<GatewayRecord, "routes" | "upstreams">,
  allowedModels: readonly string[] | null,
  dialect: Dialect,
): readonly RouteRecord[] {
  const callable = new Set(upstreams.filter((each) => each.dialect === dialect).map(({ name }) => name));
  return routes.filter(
    ({ model, upstream }) => callable.has(upstream) && (allowedModels === null || allowedModels.includes(model)),
  );
}

/** Returns the body that answers a list of models, in a caller's format. */
export function modelList(dialect: Dialect, routes: readonly RouteRecord[]): object {
  return SHAPES[dialect].list(routes.map(({ model }) => model));
}

/** Returns the body that describes one model. */
export function modelDescription(dialect: Dialect, route: RouteRecord): object {
  return SHAPES[dialect].one(route.model);
}
