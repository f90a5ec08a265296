import { counted } from "../../counted.ts";
import { type AdvicePoint, type AnswersUsed, type KeyUse, requestsWithin } from "./key-use.ts";

/** Maximum number of models that a PlatformKey names. */
const MAX_MODELS = 64;
/** Maximum number of names listed in a sentence. */
const MAX_NAMED = 10;
/** Labels of counts that may cover several models. */
const NO_MODEL = new Set(["other", "unknown"]);

/** Advises the gateway that all answers came by, and the models that calls named, as far as they are known. */
export function adviseGateway(use: KeyUse): AdvicePoint[] {
  const calls = requestsWithin(use, ["gateway:generate", "gateway:embed", "gateway:routes", "gateway:files"]);
  if (calls === 0 && use.answers.length === 0) return [];
  return [gatewayPoint(use, calls), modelPoint(use, calls)];
}

function gatewayPoint({ spec, answers, namespace }: KeyUse, calls: number): AdvicePoint {
  const stay = (why: string): AdvicePoint => ({ field: "gatewayRef", change: {}, why });
  if (spec.gatewayRef !== undefined) return stay("The key is bound to one gateway.");
  const [first, ...others] = new Map(answers.map((one) => [one.gatewayId, one])).values();
  if (first === undefined)
    return stay("No model has answered, so that it is not known which gateway the calls were to.");
  if (others.length > 0) {
    return stay(`${others.length + 1} gateways have answered, and a key is bound to one or to none.`);
  }
  if (first.gateway === null) return stay("The gateway that has answered is gone.");
  const { name, namespace: where } = first.gateway;
  const ref = where === namespace || where === "" ? { name } : { name, namespace: where };
  return {
    field: "gatewayRef",
    change: { gatewayRef: ref },
    why: `${counted(answered(answers), "answer")} of models came by it, and none by another. Of ${counted(calls, "call")} that were let through those without such an answer are not counted by gateway.`,
  };
}

function answered(answers: readonly AnswersUsed[]): number {
  return answers.reduce((sum, one) => sum + one.calls, 0);
}

/** Advises the models. An answer's model is not always the model that the call named, but a route's name is. */
function modelPoint({ spec, answers }: KeyUse, calls: number): AdvicePoint {
  const stay = (why: string): AdvicePoint => ({ field: "allowedModels", change: {}, why });
  if (answers.length === 0) return stay("No model has answered.");
  const routes = answers.map(({ route }) => route);
  const named = [...new Set(routes)].filter((route) => typeof route === "string").toSorted();
  if (routes.includes(undefined)) {
    return stay(
      `Models have answered as ${listed(answers)}. What calls without a route named is not kept, such as an alias, so that nothing is narrowed: write what your calls name.`,
    );
  }
  if (routes.includes(null)) {
    return stay("A route that calls named is gone, or has the routeID of another, so that nothing is narrowed.");
  }
  const known = spec.allowedModels;
  const narrowed = known === undefined ? named : named.filter((name) => known.includes(name));
  if (narrowed.length > MAX_MODELS) return stay(`${narrowed.length} routes were named, and a list has ${MAX_MODELS}.`);
  if (narrowed.length === 0 || narrowed.length === known?.length) return stay("All that are allowed were named.");
  return {
    field: "allowedModels",
    change: { allowedModels: narrowed },
    why: `${counted(answered(answers), "answer")} of models came to calls that named one of these routes. Of ${counted(calls, "call")} that were let through those without such an answer are not counted by route.`,
  };
}

function listed(answers: readonly AnswersUsed[]): string {
  const sums = new Map<string, number>();
  for (const { model, calls } of answers) sums.set(model, (sums.get(model) ?? 0) + calls);
  const names = [...sums].toSorted(([, a], [, b]) => b - a).map(([model, calls]) => `${nameOf(model)} (${calls})`);
  const more = names.length - MAX_NAMED;
  return `${names.slice(0, MAX_NAMED).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

function nameOf(model: string): string {
  return NO_MODEL.has(model) ? `${model}, which may be several,` : JSON.stringify(model);
}
