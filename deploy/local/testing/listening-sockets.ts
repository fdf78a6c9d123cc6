import { readdir, readFile, readlink } from 'node:fs/promises';

/** A listening TCP socket. `address` is in the hexadecimal form of `/proc/net/tcp`. */
export type ListeningSocket = { readonly address: string; readonly port: number; readonly isLoopback: boolean };

/** The listening TCP sockets of a process and all its descendants (from Linux's `/proc`). */
export async function listeningSockets(rootPid: number): Promise<readonly ListeningSocket[]> {
  const inodes = new Set<string>();
  for (const pid of await descendantsOf(rootPid)) for (const inode of await socketsOf(pid)) inodes.add(inode);
  const tables = await Promise.all(['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'utf8')));
  return tables.flatMap((table) =>
    table
      .trim()
      .split('\n')
      .slice(1)
      .flatMap((line) => readLine(line, inodes)),
  );
}

const listenState = '0A';

function readLine(line: string, inodes: ReadonlySet<string>): ListeningSocket[] {
  const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
  if (state !== listenState || !inodes.has(inode)) return [];
  const [address = '', port = ''] = local.split(':');
  return [{ address, port: Number.parseInt(port, 16), isLoopback: isLoopback(address) }];
}

/** Whether an address is loopback. `address` has hexadecimal words in the byte order of a little-endian machine. */
function isLoopback(address: string): boolean {
  if (address.length === 8) return address.endsWith('7F');
  return address === '00000000000000000000000001000000' || /^0{16}FFFF0000.{6}7F$/.test(address);
}

async function descendantsOf(rootPid: number): Promise<readonly number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const parents = await Promise.all(pids.map(async (pid) => [Number(pid), await parentOf(pid)] as const));
  const found = [rootPid];
  for (const pid of found) found.push(...parents.filter(([, parent]) => parent === pid).map(([child]) => child));
  return found;
}

/** Id of a process's parent; undefined if the process has ended meanwhile. */
async function parentOf(pid: string): Promise<number | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // Read after the last parenthesis, because the program's name, in parentheses, may contain any text.
  const [, parent] = stat
    .slice(stat.lastIndexOf(')') + 1)
    .trim()
    .split(' ');
  return parent === undefined ? undefined : Number(parent);
}

async function socketsOf(pid: number): Promise<readonly string[]> {
  const folder = `/proc/${pid}/fd`;
  const links = await Promise.all(
    (await readdir(folder).catch(() => [])).map((fd) => readlink(`${folder}/${fd}`).catch(() => '')),
  );
  return links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []);
}
