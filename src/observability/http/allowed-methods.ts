import type { FastifyInstance } from "fastify";

/** Remembers the routes that are added to `app` from now on; answers which methods a path takes (sorted, or none). */
export function trackMethods(app: FastifyInstance): (path: string) => string[] {
  const routes: { readonly pattern: RegExp; readonly methods: readonly string[] }[] = [];
  app.addHook("onRoute", ({ url, method }) => {
    const pattern = url
      .split(/(:[A-Za-z0-9_]+|\*)/)
      .map((part) =>
        part.startsWith(":") ? "[^/]+" : part === "*" ? ".*" : part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"),
      )
      .join("");
    routes.push({ pattern: new RegExp(`^${pattern}$`), methods: [method].flat() });
  });
  return (path) =>
    [...new Set(routes.filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => methods))].toSorted();
}
