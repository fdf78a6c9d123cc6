/**
 * What piscina loads in a thread: imports the module of `workerData.host` (a URL), whose `runHost` is the task.
 *
 * CommonJS because piscina loads this file with `require`. An ES module would then be loaded by `require` as well, and
 * if a thread is ended meanwhile, Node aborts the whole process: a pipeline that cannot start would exit with SIGABRT.
 */
export = {
  runHost: import('node:worker_threads')
    .then(({ workerData }) => import((workerData as { readonly host: string }).host))
    .then(({ runHost }: { readonly runHost: unknown }) => runHost),
};
