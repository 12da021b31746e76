package m;

import org.junit.jupiter.api.*;

class SetUpTest {
    @BeforeAll
    static void all() {
        throw new RuntimeException("no server");
    }

    @Test
    void never() {}
}
