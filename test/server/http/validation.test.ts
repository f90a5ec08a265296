import { fastify } from "fastify";
import { expect, onTestFinished, test } from "vitest";
import { problemOf } from "../../../server/http/problems/problem-of.ts";
import { validateStrictly } from "../../../server/http/validation.ts";

test.each([
  ["%E9", 400],
  ["caf%E9", 400],
  ["50%", 400],
  ["%zz", 400],
  ["%ED%A0%80", 400],
  ["caf%C3%A9", 200],
  ["café", 200],
  ["50%25+more", 200],
  ["", 200],
])("a query of %s is %i, in a name as in a value", async (text, status) => {
  const app = fastify();
  onTestFinished(() => app.close());
  app.setErrorHandler((error, _request, reply) => reply.code(problemOf(error).status).send(problemOf(error).detail));
  validateStrictly(app);
  app.get("/", (request) => Object.entries(request.query as object).flat());
  for (const query of [`q=${text}`, `a=b&${text}=c`]) {
    const answer = await app.inject({ url: `/?${query}` });
    expect([query, answer.statusCode]).toEqual([query, status]);
    if (status === 400) expect(answer.body).toContain("write it in UTF-8, percent-encoded");
  }
  expect((await app.inject({ url: "/" })).statusCode).toBe(200);
});
