import { expect, test } from "vitest";
import { condition, REASONS } from "../../domain/conditions.ts";
import { SCHEMAS } from "../../domain/kinds/generated/schemas.ts";

test("A condition's message is as long as the kinds' schemas take at most, and ends with what to do", () => {
  const { message } = condition("Accepted", "False", "NamespaceTaken", "namespace ".repeat(1_000));
  for (const schema of Object.values(SCHEMAS))
    expect(JSON.stringify(schema)).toContain(`"maxLength":${message.length}`);
  expect(message.endsWith(`… ${REASONS.NamespaceTaken}`)).toBe(true);
  expect(condition("Ready", "True", "Ready", "As it is.").message).toBe("As it is.");
});
