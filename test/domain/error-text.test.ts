import { expect, it } from "vitest";
import { connectionErrorText, errorMessage, errorText } from "../../domain/error-text.ts";

it("b79: an error that quotes a request shows people no key of it", () => {
  const error = new Error('refused {"stringData":{"api-key":"inf_0123456789abcdef"}}\nwith more behind it');
  expect(errorText(error)).toBe('refused {"stringData":{"api-key":"inf_..."}}');
  expect(errorMessage(error)).toBe('refused {"stringData":{"api-key":"inf_..."}}\nwith more behind it');
});

it("an error of a request that got no answer says why, and shows no key either", () => {
  const failed = (cause: unknown) => connectionErrorText(new TypeError("fetch failed", { cause }));
  expect(failed(new Error("connect ECONNREFUSED 127.0.0.1:1"))).toBe("connect ECONNREFUSED 127.0.0.1:1");
  expect(failed(new AggregateError([]))).toBe("AggregateError");
  expect(failed(new Error("no host inf_0123456789abcdef"))).toBe("no host inf_...");
  expect(failed(undefined)).toBe("fetch failed");
  const ofOpenssl =
    "40135D816B7F0000:error:0A00010B:SSL routines:tls_record:wrong version number:../ssl/tlsany_meth.c:78:";
  expect(failed(new Error(ofOpenssl))).toBe("wrong version number");
});
