import type { preValidationHookHandler } from "fastify";

/**
 * Takes the parameters of a query that are there and empty for left out, as forms and programs mean them. Their names
 * stay: one that is unknown is refused all the same. What writes is refused: it might do more than was meant.
 */
export const leaveOutEmptyParameters: preValidationHookHandler = (request, _reply, done) => {
  if (request.method !== "GET" && request.method !== "HEAD") return done();
  const given = Object.entries(request.query ?? {});
  request.query = Object.fromEntries(given.map(([name, value]) => [name, withoutEmpty(value)]));
  done();
};

/** @param value a parameter's, or an array of them where it is given several times */
function withoutEmpty(value: unknown): unknown {
  if (!Array.isArray(value)) return value === "" ? undefined : value;
  const given = value.filter((each) => each !== "");
  return given.length === 0 ? undefined : given;
}
