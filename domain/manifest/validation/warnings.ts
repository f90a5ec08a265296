import { FIXED_PATHS } from "../../access/gateway-operations.ts";
import { parseDuration } from "../../duration.ts";
import { overlapLimit } from "../../key/declaration/declared-key.ts";
import { effectiveScopes } from "../../key/declaration/effective.ts";
import { declareOverlap } from "../../key/fields/declare-key.ts";
import type { ModelGatewaySpec } from "../../kinds/generated/model-gateway.ts";
import type { PlatformKeySpec } from "../../kinds/generated/platform-key.ts";
import type { Complaint } from "../document/diagnostic.ts";

type Advice = {
  readonly path: readonly string[];
  readonly message: string;
  applies(spec: PlatformKeySpec, now: number): boolean;
};

/** Warnings about what admission accepts, because it grants nothing, but the author of a declaration hardly meant. */
const WARNINGS: readonly Advice[] = [
  {
    path: ["spec", "gatewayRef"],
    message: "has no effect without a gateway scope: add gateway:generate, gateway:embed or gateway:routes to scopes",
    applies: (spec) => spec.gatewayRef !== undefined && !hasScopeOf(spec, "gateway"),
  },
  {
    path: ["spec", "allowedModels"],
    message: "has no effect without a gateway scope: add gateway:generate, gateway:embed or gateway:routes to scopes",
    applies: (spec) => spec.allowedModels !== undefined && !hasScopeOf(spec, "gateway"),
  },
  {
    path: ["spec", "secret", "template"],
    message: "McpConfig is of no use without a memory scope: add memory:read or memory:write to scopes",
    applies: (spec) => spec.secret.template === "McpConfig" && !hasScopeOf(spec, "memory"),
  },
  {
    path: ["spec", "expiresAfter"],
    message: "ends each version before rotation.interval mints the next: write a longer one, or a shorter interval",
    applies: ({ expiresAfter, rotation }) =>
      expiresAfter !== undefined &&
      rotation?.interval !== undefined &&
      parseDuration(expiresAfter) <= parseDuration(rotation.interval),
  },
  {
    path: ["spec", "rotation", "interval"],
    message:
      "is shorter than the overlap, which is 24h by default, so that old versions pile up and a rotation may wait for one to end: write a longer one, or a shorter overlap",
    applies: ({ rotation }) =>
      rotation?.interval !== undefined &&
      parseDuration(rotation.interval) < overlapLimit(declareOverlap(rotation.overlap)),
  },
  {
    path: ["spec", "expiresAt"],
    message: "is in the past, so that the key is refused: write a later time",
    applies: ({ expiresAt }, now) => expiresAt !== undefined && Date.parse(expiresAt) <= now,
  },
];

/**
 * Returns warnings about a valid key.
 *
 * @param now milliseconds since the epoch; without it there are no warnings about times in the past
 */
export function warningsFor(spec: PlatformKeySpec, now = Number.NEGATIVE_INFINITY): Complaint[] {
  return WARNINGS.filter((advice) => advice.applies(spec, now));
}

function hasScopeOf(spec: PlatformKeySpec, product: "gateway" | "memory"): boolean {
  return effectiveScopes(spec).some((scope) => scope.startsWith(`${product}:`));
}

/** Pattern of the end of a call's URL, behind its version. */
const PATH_OF_CALL = new RegExp(`(?<=/v\\d\\S*)/(?:${FIXED_PATHS.join("|")})/?$`);
/** Pattern of a version at the end of a URL. Google's SDKs append one to their base URL, which the client chooses. */
const VERSION = /\/v1(?:alpha|beta)?\/?$/;
/** Pattern of a URL whose path is a version: Google's own, which stays. */
const IS_VERSION = /^https?:\/\/[^/]+\/v1(?:alpha|beta)?\/?$/;

/** Pattern of what no name in a call's path has (server/gateway/classify.ts). */
const NOT_IN_PATH = /[/\\%;?#]/;

/** Returns warnings about a valid gateway. */
export function gatewayWarnings(spec: ModelGatewaySpec): Complaint[] {
  return [...upstreamWarnings(spec), ...routeWarnings(spec)];
}

function routeWarnings({ upstreams, routes }: ModelGatewaySpec): Complaint[] {
  const ofGemini = new Set(upstreams.filter(({ dialect }) => dialect === "gemini").map(({ name }) => name));
  return routes.flatMap(({ model, upstream }, i) => {
    if (!ofGemini.has(upstream) || !NOT_IN_PATH.test(model)) return [];
    const message = "is called by no client of Gemini, which names it in the path: leave out / \\ % ; ? and #";
    return [{ path: ["spec", "routes", i, "model"], message }];
  });
}

function upstreamWarnings({ upstreams }: ModelGatewaySpec): Complaint[] {
  return upstreams.flatMap(({ baseURL, dialect }, i) => {
    const [call] = PATH_OF_CALL.exec(baseURL) ?? [];
    const [version] = (dialect === "gemini" && VERSION.exec(baseURL)) || [];
    const end = call ?? version;
    if (end === undefined) return [];
    const what =
      call === undefined
        ? IS_VERSION.test(baseURL)
          ? `which takes the place of the version that a client asks for: leave ${end} out to have each client's`
          : `and the version that a client asks for, such as /v1beta, is put behind it: leave ${end} out`
        : `and the path of each call is put behind it: leave ${end} out`;
    const message = `ends in ${end}, ${what}`;
    return [{ path: ["spec", "upstreams", i, "baseURL"], message }];
  });
}
