/** Pages of the runbook, which the build renders: deploy/repo/build/runbook-sections.ts. */
declare module 'runbook/*' {
  const sections: readonly {
    readonly slug: string;
    readonly title: string;
    readonly lead: string;
    readonly html: string;
  }[];
  export default sections;
}
