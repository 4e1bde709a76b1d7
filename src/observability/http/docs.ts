import { fastify } from "fastify";
import type { FastifyInstance, FastifyReply } from "fastify";
import { openApiDocument } from "./openapi.ts";

/**
 * The reference reads the document and, when asked to, calls the API; both on its own origin. It sets styles on
 * elements, which only 'unsafe-inline' permits. Nothing else is loaded from anywhere.
 */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Vigil Observability API</title>
  </head>
  <body>
    <div id="app"></div>
    <noscript>This page needs JavaScript. The document itself is <a href="/openapi.json">openapi.json</a>.</noscript>
    <script src="/docs/reference.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;

/** Everything of the reference that would speak to its maker's servers is off; the page's policy forbids it besides. */
const settings = {
  url: "/openapi.json",
  telemetry: false,
  withDefaultFonts: false,
  showDeveloperTools: "never",
  hideClientButton: true,
  agent: { disabled: true },
  mcp: { disabled: true },
};

/** Adds /openapi.json (also below /api/v1) and a page to read it at /docs. */
export function registerDocs(app: FastifyInstance, version: string): void {
  let document: Record<string, unknown> | undefined;
  for (const url of ["/openapi.json", "/api/v1/openapi.json"]) {
    // At the first call every route is there.
    app.get(url, () => (document ??= openApiDocument(app.documentedRoutes, version)));
  }

  let script: Promise<Buffer> | undefined;
  const forPage = (reply: FastifyReply, type: string) => reply.header("content-security-policy", pagePolicy).type(type);
  app.get("/docs", (_request, reply) => forPage(reply, "text/html; charset=utf-8").send(page));
  app.get("/docs/start.js", (_request, reply) =>
    forPage(reply, "text/javascript; charset=utf-8").send(
      `Scalar.createApiReference("#app", ${JSON.stringify(settings)});\n`,
    ),
  );
  app.get("/docs/reference.js", async (_request, reply) => {
    const bytes = await (script ??= referenceScript());
    return forPage(reply, "text/javascript; charset=utf-8")
      .header("cache-control", "private, max-age=3600")
      .send(bytes);
  });
}

/** The reference's script out of its package, which is 30 MB in memory and therefore loaded when somebody reads. */
async function referenceScript(): Promise<Buffer> {
  const { default: reference } = await import("@scalar/fastify-api-reference");
  const holder = fastify();
  await holder.register(reference, { routePrefix: "/reference", configuration: { url: settings.url } });
  const { statusCode, rawPayload } = await holder.inject("/reference/js/scalar.js");
  await holder.close();
  if (statusCode !== 200) throw new Error(`The API reference's package answered its script with ${statusCode}.`);
  return rawPayload;
}
