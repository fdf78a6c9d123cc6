import { isMainThread } from 'node:worker_threads';

// Loaded into every process the bench starts: one whose bench was killed ends itself, in good order.
if (isMainThread && process.channel !== undefined) {
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  process.channel?.unref();
}
