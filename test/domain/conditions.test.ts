import { expect, test } from "vitest";
import { condition, gravityOf, REASONS } from "../../domain/conditions.ts";
import { SCHEMAS } from "../../domain/kinds/generated/schemas.ts";

test("A condition's message is as long as the kinds' schemas take at most, and ends with what to do", () => {
  const { message } = condition("Accepted", "False", "NamespaceTaken", "namespace ".repeat(1_000));
  for (const schema of Object.values(SCHEMAS))
    expect(JSON.stringify(schema)).toContain(`"maxLength":${message.length}`);
  expect(message.endsWith(`… ${REASONS.NamespaceTaken}`)).toBe(true);
  expect(condition("Ready", "True", "Ready", "As it is.").message).toBe("As it is.");
});

test("A condition's message ends its own sentence before it says what to do", () => {
  const messageOf = (text: string) => condition("Accepted", "False", "Invalid", text).message;
  expect(messageOf('must be text: write it in quotes, "50"')).toBe(
    `must be text: write it in quotes, "50". ${REASONS.Invalid}`,
  );
  expect(messageOf("It is wrong.")).toBe(`It is wrong. ${REASONS.Invalid}`);
});

test("How grave a condition is goes by what its type says, and whether its reason passes by itself", () => {
  const said = (type: string, status: "True" | "False" | "Unknown", reason: string) =>
    gravityOf({ type, status, reason });
  expect([
    said("Ready", "True", "Ready"),
    said("Leaked", "False", "NotLeaked"),
    said("Reconciling", "False", "Ready"),
  ]).toEqual(["in order", "in order", "in order"]);
  expect([
    said("Ready", "False", "NamespaceTaken"),
    said("BudgetExhausted", "True", "BudgetExhausted"),
    said("CredentialsAccepted", "False", "CredentialRefused"),
    said("OfALaterBuild", "False", "Whatever"),
  ]).toEqual(["wrong", "wrong", "wrong", "wrong"]);
  expect([
    said("Ready", "Unknown", "Retrying"),
    said("Enforced", "False", "Confirming"),
    said("Embedded", "False", "Embedding"),
    said("Rotating", "True", "Rotating"),
  ]).toEqual(["under way", "under way", "under way", "under way"]);
});
