import { expect, it } from "vitest";
import { errorText } from "../../controller/error-text.ts";

it("an error that quotes a request shows people no key of it", () => {
  const error = new Error('refused {"stringData":{"api-key":"inf_0123456789abcdef"}}\nwith more behind it');
  expect(errorText(error)).toBe('refused {"stringData":{"api-key":"inf_..."}}');
});
