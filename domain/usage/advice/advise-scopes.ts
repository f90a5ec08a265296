import { PRESETS, presetOf, type Scope } from "../../access/scopes.ts";
import { counted } from "../../counted.ts";
import { effectiveScopes } from "../../key/declaration/effective.ts";
import { type AdvicePoint, type KeyUse, requestsWithin } from "./key-use.ts";

/** Advises the scopes that permitted requests, and those that calls may have needed without being counted. */
export function adviseScopes(use: KeyUse): AdvicePoint {
  const { preset } = use.spec;
  const had = effectiveScopes(use.spec);
  const kept = had.filter((scope) => reasonToKeep(use, scope) !== undefined);
  const unused = had.filter((scope) => !kept.includes(scope));
  const reasons = kept.map((scope) => `${scope}: ${reasonToKeep(use, scope)}.`);
  if (unused.length === 0 || kept.length === 0) return point({}, ["All of them were needed.", ...reasons]);
  const said = [...reasons, `Not needed: ${unused.join(", ")}.`];
  if (preset === undefined) return point({ scopes: kept }, said);
  const other = presetOf(kept);
  const stands = `Preset ${preset} stands for ${PRESETS[preset].join(", ")}.`;
  return other === undefined
    ? point({ preset: undefined, scopes: kept }, [stands, ...said, "No preset is as narrow: the scopes are listed."])
    : point({ preset: other }, [stands, ...said]);
}

function point(change: AdvicePoint["change"], why: readonly string[]): AdvicePoint {
  return { field: "scopes", change, why: why.join(" ") };
}

/** Returns why a scope stays; undefined if nothing needed it. */
function reasonToKeep(use: KeyUse, scope: Scope): string | undefined {
  const own = use.requests.get(scope) ?? 0;
  if (own > 0) return counted(own, "request");
  if (scope === "gateway:routes") return reasonForRoutes(use);
  const anyMemory = use.requests.get("memory:*") ?? 0;
  const had = effectiveScopes(use.spec);
  const hasOther =
    requestsWithin(
      use,
      had.filter((one) => one.startsWith("memory:")),
    ) > 0;
  const least = had.includes("memory:read") ? "memory:read" : "memory:write";
  if (scope !== least || anyMemory === 0 || hasOther) return undefined;
  return `${counted(anyMemory, "request")} of MCP that called no tool`;
}

/** Returns why `gateway:routes` stays: a call that names a route needs it, but is counted by another scope. */
function reasonForRoutes(use: KeyUse): string | undefined {
  const routed = use.answers.filter(({ route }) => route !== undefined).reduce((sum, { calls }) => sum + calls, 0);
  if (routed > 0) return `${counted(routed, "answer")} of calls that named a route`;
  const answers = use.answers.reduce((sum, { calls }) => sum + calls, 0);
  const without = requestsWithin(use, ["gateway:generate", "gateway:embed"]) - answers;
  return without > 0 ? `of ${counted(without, "call")} without an answer that is counted it is not known` : undefined;
}
