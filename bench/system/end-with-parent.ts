import { isMainThread } from 'node:worker_threads';

// Loaded into every process of the bench: if the bench is killed, the process sends itself SIGTERM.
if (isMainThread && process.channel !== undefined) {
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  process.channel?.unref();
}
