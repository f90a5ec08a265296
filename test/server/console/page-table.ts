/** The console's pages, and what each person is answered by them: the admin, the member, the viewer, and the stranger. */
export const PAGES: Readonly<Record<string, readonly [number, number, number, number]>> = {
  "/": [303, 303, 303, 303],
  "/keys": [200, 200, 200, 200],
  "/keys/new": [200, 200, 403, 200],
  "/keys/find": [200, 200, 200, 200],
  "/keys/revoke?keyId=:key": [200, 200, 403, 404],
  "/keys/export.yaml?keyId=:key": [200, 200, 403, 404],
  "/keys/export.csv?keyId=:key": [200, 200, 200, 404],
  "/keys/:key": [200, 200, 200, 404],
  "/keys/:key/edit": [200, 200, 403, 404],
  "/keys/:key/rotate": [200, 200, 403, 404],
  "/keys/:key/revoke": [200, 200, 403, 404],
  "/keys/:key/manifest": [200, 200, 403, 404],
  "/keys/:key/manifest.yaml": [200, 200, 403, 404],
  "/libraries": [200, 200, 200, 200],
  "/libraries/:library": [200, 200, 200, 404],
  "/libraries/:library/atoms/:atom": [200, 200, 200, 404],
  "/gateways": [200, 200, 200, 200],
  "/gateways/:gateway": [200, 200, 200, 404],
  "/team": [303, 303, 303, 303],
  "/team/:team": [200, 200, 200, 404],
  "/audit": [200, 200, 200, 200],
  "/audit/export": [200, 200, 200, 200],
  "/usage": [200, 200, 200, 200],
  "/refusals": [200, 200, 200, 200],
  "/webhooks": [200, 200, 200, 200],
  "/now": [404, 404, 404, 404],
};

/** Those that have nothing to look at: they lead elsewhere, or are files. */
export const NOT_SEEN: ReadonlySet<string> = new Set([
  "/",
  "/audit/export",
  "/keys/export.yaml?keyId=:key",
  "/keys/export.csv?keyId=:key",
  "/keys/:key/manifest.yaml",
]);
