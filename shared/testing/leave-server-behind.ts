import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { compiledPath } from '../runtime/compiled-path.ts';

const script = `
  const [module, name, options] = process.argv.slice(1);
  const server = await (await import(module))[name](JSON.parse(options));
  process.stdout.write(String(server.pid));
  await new Promise(() => setInterval(() => undefined, 1000));
`;

/** Starts a server from another process and kills that process with SIGKILL. Returns the server's process id. */
export async function leaveServerBehind(module: URL, start: string, options: object): Promise<number> {
  const args = ['--input-type=module', '--eval', script];
  const parent = spawn(process.execPath, [...args, '--', compiledPath(module), start, JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [output] = (await Promise.race([
      once(parent.stdout, 'data'),
      once(parent, 'exit').then(() => Promise.reject(new Error('the process that was to start the server ended'))),
    ])) as [Buffer];
    return Number(output.toString());
  } finally {
    const exited = parent.exitCode === null ? once(parent, 'exit') : undefined;
    parent.kill('SIGKILL');
    await exited;
  }
}
