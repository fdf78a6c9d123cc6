/** Host names of the parts of a stack that is reached by name, each below a reserved name (RFC 6761). */
export const stackName = (part: 'log' | 'database' | 'destination'): string => `${part}.sluice.test`;

export const isStackName = (name: string): boolean => name.endsWith('.sluice.test');
