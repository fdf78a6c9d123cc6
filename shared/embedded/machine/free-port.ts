import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

import { EmbeddedServerError } from './embedded-server-error.ts';

// Below the range Linux takes outgoing connections from (32768 up), so that no connection of ours or of a test
// occupies the port while a server that listened on it is being restarted.
const portMin = 20_000;
const portMax = 32_000;
const attemptsMax = 64;

/**
 * A TCP port without a listener: `preferred` if it is free, else a random one, which no process of this machine is given
 * by this function for a while. The caller must still expect to lose a race for it to another program.
 */
export async function findFreePort(preferred?: number): Promise<number> {
  if (preferred !== undefined && (await isPortFree(preferred))) {
    return preferred;
  }
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const port = randomInt(portMin, portMax);
    if ((await reserve(port)) && (await isPortFree(port))) {
      return port;
    }
  }
  throw new EmbeddedServerError(
    'port_busy',
    `found no free TCP port between ${portMin} and ${portMax} in ${attemptsMax} tries`,
  );
}

/** By then the caller listens on its port, or has ended; it may restart on it a few times. */
const reservedMs = 600_000;

/**
 * Keeps a port from being found again, here and in other processes: an abstract socket of its number, which the system
 * closes with the process. Where there are none (they are Linux's) nothing is reserved. False where it is reserved.
 */
async function reserve(port: number): Promise<boolean> {
  const holder = createServer();
  holder.unref();
  holder.listen(`\0sluice-port-${port}`);
  try {
    await once(holder, 'listening');
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE');
  }
  setTimeout(() => holder.close(), reservedMs).unref();
  return true;
}

/** Whether this process could listen on the port, on loopback and on all addresses. */
export async function isPortFree(port: number): Promise<boolean> {
  return (await probePort(port)) === undefined;
}

/** Throws unless the port is free, naming the environment variable that chooses another one. */
export async function assertPortFree(port: number, variable: string): Promise<void> {
  const obstacle = await probePort(port);
  if (obstacle === undefined) {
    return;
  }
  const reason = obstacle === 'EACCES' ? 'may not be used by this account' : 'is in use by another program';
  throw new EmbeddedServerError(
    'port_busy',
    `port ${port} ${reason} (${obstacle}); set ${variable} to another port, or stop what is using it`,
  );
}

/** The wanted port, which must be free, or a random free one if 0 or none is wanted. `user` is named in the error. */
export async function choosePort(wanted: number | undefined, user: string): Promise<number> {
  if (wanted === undefined || wanted === 0) {
    return findFreePort();
  }
  if (!(await isPortFree(wanted))) {
    throw new EmbeddedServerError('port_busy', `port ${wanted}, wanted for ${user}, is in use by another program`);
  }
  return wanted;
}

/** The error code of listening on the port, or undefined when it works. */
async function probePort(port: number): Promise<string | undefined> {
  // Loopback is tried as well because some systems let a wildcard listener join a loopback one.
  return (await listenOnce(port, '127.0.0.1')) ?? (await listenOnce(port, undefined));
}

async function listenOnce(port: number, host: string | undefined): Promise<string | undefined> {
  // A client that keeps trying to reach a server that is down may get through to this one; it would hold up the close.
  const server = createServer((socket) => socket.destroy());
  try {
    server.listen({ port, host, exclusive: true });
    await once(server, 'listening');
    server.close();
    await once(server, 'close');
    return undefined;
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  }
}
