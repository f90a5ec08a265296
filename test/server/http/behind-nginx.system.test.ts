import { request as httpRequest } from "node:http";
import { expect, test } from "vitest";
import { products } from "../../../processes/products.ts";
import { startNginx } from "../../env/nginx.ts";
import { startHarness } from "../harness.ts";

const UPLOAD = Buffer.alloc(5_000_000, " ");
const UPLOADS = 100;
const AT_A_TIME = 10;

/** The status of an upload, which is sent whatever comes back meanwhile. */
function upload(url: string, key: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { "x-api-key": key, "content-type": "application/json", "content-length": UPLOAD.length };
    const request = httpRequest(`${url}/atoms`, { method: "POST", headers, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.on("error", reject);
    request.end(UPLOAD);
  });
}

test("b82: nginx passes on each refusal of 100 large uploads, and none as its own 502", async () => {
  const harness = await startHarness({ mounts: products() });
  const nginx = await startNginx(harness.port);
  const key = harness.addKey();
  const statuses: number[] = [];
  let left = UPLOADS;
  const worker = async () => {
    while (left-- > 0) statuses.push(await upload(nginx.url, statuses.length % 2 === 0 ? key : "none"));
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, worker));
  await nginx.stop();
  await harness.close();
  expect(statuses).toHaveLength(UPLOADS);
  expect([...new Set(statuses)].sort()).toEqual([401, 413]);
});
