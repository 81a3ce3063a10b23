/* attributes.c - PMI-2: attributes of the job and of the node.  Processes of one node agree on a
 * shared memory segment without asking anybody else: one of them puts its name as an attribute of
 * the node, the others wait for it. The mapping of ranks to nodes is an attribute of the job.
 *
 *   wireup -n 4 ./attributes */
#include <pmi2.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    char map[1024] = "", segment[256] = "";
    int spawned, size, rank, appnum, found = 0;

    if (PMI2_Init(&spawned, &size, &rank, &appnum) != PMI2_SUCCESS)
        return 1;
    PMI2_Info_GetJobAttr("PMI_process_mapping", map, sizeof map, &found);
    if (!found) {
        fprintf(stderr, "attributes: WRONG: no mapping\n");
        return 1;
    }
    if (rank == 0)
        PMI2_Info_PutNodeAttr("segment", "/example-1");
    PMI2_Info_GetNodeAttr("segment", segment, sizeof segment, &found, 1);
    if (!found || strcmp(segment, "/example-1") != 0) {
        fprintf(stderr, "attributes: WRONG: the segment is '%s'\n", segment);
        return 1;
    }
    if (rank == 0)
        printf("the mapping is %s\nattributes: good\n", map);
    return PMI2_Finalize() == PMI2_SUCCESS ? 0 : 1;
}
