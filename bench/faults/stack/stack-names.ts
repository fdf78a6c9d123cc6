/** Host names of a stack whose parts are reached by name, below a reserved top-level domain (RFC 6761). */
export const stackName = (part: 'log' | 'database' | 'destination'): string => `${part}.sluice.test`;

export const isStackName = (name: string): boolean => name.endsWith('.sluice.test');
